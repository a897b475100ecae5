package baton.channels

/**
 * What becomes of an element that is sent to a [Channel] without a place for it. What is dropped goes to `onDropped`.
 * In a channel that drops and has a capacity of 0, that is everything for which no receiver waits.
 */
public enum class OnFull {
    /** The sender waits for a place. */
    SUSPEND,

    /**
     * The oldest element makes room; under [ChannelOrder.PRIORITY] the oldest of the lowest level, which may be the new
     * one, and what receivers gave back after all others. With a capacity of 1 that is a *conflated* channel: who
     * receives gets the latest.
     */
    DROP_OLDEST,

    /** The new element is dropped; its send counts as done. */
    DROP_LATEST,
}
