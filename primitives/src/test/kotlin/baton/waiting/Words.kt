package baton.waiting

/** The counter of a core, or the other state that the core keeps there. */
internal fun PaddedCounter.word(): Long = counter()
