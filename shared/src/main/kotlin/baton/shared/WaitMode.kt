package baton.shared

/** How the members of a [SharedRegion] wait for other processes. */
public enum class WaitMode {
    /** The kernel wakes them, on Linux with native access enabled; a slice of 50 ms bounds the wait for a lost wake. */
    FUTEX,

    /** They look again after 1 to 8 ms, which needs no native code. */
    POLLING,
}
