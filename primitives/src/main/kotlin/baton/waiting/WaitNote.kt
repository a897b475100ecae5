package baton.waiting

/**
 * What the waiting thread notes of its wait, if the core is watched.
 *
 * @property since when the wait began, in [System.nanoTime].
 */
internal open class WaitNote(@JvmField val since: Long)
