package baton.waiting.threads

/** More calls than a decision needs with its wake-ups, up to where code of users begins. */
private const val FRAMES = 256

/**
 * Throws [StackOverflowError] unless the stack has room for a decision and its wake-ups. A decision of many calls asks
 * for it before its first change: then it is made as a whole or not at all.
 */
internal fun requireStack() {
    descend(FRAMES)
}

private fun descend(frames: Int): Int = if (frames == 0) 0 else descend(frames - 1) + 1
