package baton.waiting

/** The counter of a core, or what else it keeps there. */
internal fun PaddedCounter.word(): Long = counter()
