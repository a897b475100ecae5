package baton.sync

/** What becomes of a [Barrier] when a party is cancelled, or its time is over, before the barrier trips. */
public enum class BarrierCancellation {
    /** The party takes its arrival back, and another may come in its place. The others wait on. */
    RETRACT,

    /** The barrier breaks: the others get [BarrierBrokenException], for without that party they would wait in vain. */
    BREAK,
}
