package baton.channels

/**
 * The treatment of an element that is sent to a [Channel] without a place for it. Dropped elements go to `onDropped`. A
 * channel that drops elements and has a capacity of 0 drops every element for which no receiver waits.
 */
public enum class OnFull {
    /** The sender waits for a place. */
    SUSPEND,

    /**
     * The oldest element is dropped to make room; under [ChannelOrder.PRIORITY] the oldest of the lowest level, which
     * may be the new one; elements that receivers returned are then dropped last. With a capacity of 1 this is a
     * *conflated* channel: a receiver gets the latest element.
     */
    DROP_OLDEST,

    /** The new element is dropped; its send counts as done. */
    DROP_LATEST,
}
