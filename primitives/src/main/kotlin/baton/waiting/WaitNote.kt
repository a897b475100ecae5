package baton.waiting

/**
 * A note of the waiting thread about its wait, if the core is watched.
 *
 * @property since when the wait began, in [System.nanoTime].
 */
internal class WaitNote(@JvmField val since: Long)
