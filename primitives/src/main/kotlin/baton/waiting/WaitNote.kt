package baton.waiting

/**
 * A note of the waiting thread about its wait, if the core is watched.
 *
 * @property since when the wait began, in [System.nanoTime].
 * @property isExact false if a look has noted the wait, which began before [since].
 */
internal class WaitNote(@JvmField val since: Long, @JvmField val isExact: Boolean = true) {
    companion object {
        /** Whether the waits at all cores are noted. */
        @Volatile @JvmField var areTaken: Boolean = false
    }
}
