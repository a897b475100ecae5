package baton.channels

/** In which order a [Channel] hands on what it was sent. */
public enum class ChannelOrder {
    /** First sent, first received. */
    FIFO,

    /**
     * By the five levels of [baton.Priority], most urgent first, and first sent first received inside a level. No level
     * starves: of elements that are received while others wait, HIGH gets at least every 65th, NORMAL every 129th, LOW
     * every 257th and IDLE every 513th. So it is with senders that wait for a place: the most urgent of them comes in
     * first. Between both, what has come in goes first.
     */
    PRIORITY,
}
