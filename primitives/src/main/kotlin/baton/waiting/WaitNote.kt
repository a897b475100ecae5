package baton.waiting

/**
 * A note of the waiting thread about its wait, if the core is watched.
 *
 * @property since when the wait began, in [System.nanoTime].
 */
internal class WaitNote(@JvmField val since: Long) {
    companion object {
        /** Whether the waits at all cores are noted. */
        @Volatile @JvmField var areTaken: Boolean = false
    }
}
