package baton.sync

/** The effect on a [Barrier] of a party that is cancelled, or times out, before the barrier trips. */
public enum class BarrierCancellation {
    /** The party retracts its arrival, and another may replace it. The others continue to wait. */
    RETRACT,

    /** The barrier breaks: the others get [BarrierBrokenException], since they need that party to go on. */
    BREAK,
}
