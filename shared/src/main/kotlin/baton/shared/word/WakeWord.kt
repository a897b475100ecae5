package baton.shared.word

/**
 * The word on which waiters sleep, where the state that they wait for is another, of 64 bits; or the number of signals
 * of a condition.
 *
 * ```
 * bit  31      WAITERS   a waiter of another process may sleep: the next change wakes all, or one
 * bits 30..0   number of changes
 * ```
 *
 * A waiter reads this word before the state. A caller that changes the state changes this word after it. So a waiter
 * that saw the old state finds the word changed when it falls asleep, or is woken. A caller that dies between the two
 * leaves the sleepers to the end of their slice.
 */
internal object WakeWord {
    private const val WAITERS: Int = 1 shl 31

    fun withWaiters(word: Int): Int = word or WAITERS

    fun hasWaiters(word: Int): Boolean = word and WAITERS != 0

    fun changesOf(word: Int): Int = word and Int.MAX_VALUE

    /** The [word] after a change that wakes all sleepers. */
    fun changed(word: Int): Int = (word + 1) and Int.MAX_VALUE

    /** The [word] after a change that wakes one sleeper: others may sleep still. */
    fun signalled(word: Int): Int = changed(word) or (word and WAITERS)
}
