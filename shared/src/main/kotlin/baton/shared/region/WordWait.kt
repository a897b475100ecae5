package baton.shared.region

/** How this JVM waits for a change of a word by another process, and ends such a wait. */
internal interface WordWait {
    /** Whether [wake] reaches the waiters of other processes, and [park] is ended by theirs. */
    val canWake: Boolean

    /**
     * Blocks the thread while the int at [offset] is [expected], until a wake or for [nanos] at most; it may return at
     * any time. Never called on a thread that belongs to others, and only if [canWake].
     */
    fun park(words: Words, offset: Int, expected: Int, nanos: Long)

    /** Wakes up to [count] waiters of the word, in any process. Neither blocks nor fails. */
    fun wake(words: Words, offset: Int, count: Int)
}
