package baton.shared.word

/**
 * The word on which waiters sleep, where the state that they wait for is another, of 64 bits.
 *
 * ```
 * bit  31      WAITERS   a waiter of another process may sleep: the next change wakes all
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

    fun changed(word: Int): Int = (word + 1) and Int.MAX_VALUE
}
