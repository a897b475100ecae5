package baton.channels

/** The order in which a [Channel] hands elements to receivers. */
public enum class ChannelOrder {
    /** First sent, first received. */
    FIFO,

    /**
     * By the five levels of [baton.Priority], most urgent first, and first sent first received within a level. No level
     * starves: of elements that are received while others wait, HIGH gets at least every 65th, NORMAL every 129th, LOW
     * every 257th and IDLE every 513th. Senders that wait for a place are admitted in the same way, the most urgent
     * first. Buffered elements are received before those of waiting senders.
     */
    PRIORITY,
}
