package baton.sync.core

import baton.waiting.PaddedCounter

/**
 * A core whose state is one word while no request has to wait, and the fields of its subclass otherwise.
 *
 * ```
 *   plain ◀──────────────▶ guarded: INFLATED · BLOCKED
 *            inflate()
 *          updateWord()
 * ```
 * 1. A plain word is the whole state. Any thread changes it to another plain word by compare-and-set, without the lock.
 *    The fields have no meaning then.
 * 2. A guarded word is changed under the lock only, and the fields under the lock are the state. [BLOCKED] says in
 *    addition that every request that comes now has to wait: no other thread needs the lock to know that.
 * 3. A decision that needs the fields begins with [inflate] and ends with [updateWord]. It sees one consistent state,
 *    because [inflate] takes the plain word away in one step.
 *
 * So a count is exact: it is read from the plain word, or under the lock.
 */
internal abstract class InflatingCore : PaddedCounter() {
    /** Moves the content of the plain [word] into the fields. Under the lock. */
    protected abstract fun readWord(word: Long)

    /** The word that the fields demand: plain as soon as nothing needs the fields. Under the lock. */
    protected abstract fun demandedWord(): Long

    /** Runs [decision] under the lock, with the word inflated, and then sets the word to its result. */
    inline fun <T> decideInflated(crossinline decision: () -> T): T = decide {
        inflate()
        decision().also { updateWord() }
    }

    /** Makes the fields the state, until [updateWord]. Under the lock. */
    fun inflate() {
        while (true) {
            val seen = counter()
            if (isGuarded(seen)) return
            // Before the word changes: the fields have no meaning until then, and this may fail for want of stack.
            readWord(seen)
            if (compareAndSet(seen, INFLATED)) return
        }
    }

    /** Sets the word that the fields demand. No other thread changes it meanwhile. Under the lock. */
    fun updateWord() {
        val former = counter()
        val word = demandedWord()
        when (former) {
            word -> {}
            // Requests are refused by BLOCKED without the lock. None may be while its end is on the way to a processor.
            BLOCKED -> setCounterAtOnce(word)
            else -> setCounter(word)
        }
    }

    internal companion object {
        const val INFLATED = -2L
        const val BLOCKED = -3L

        fun isGuarded(word: Long) = word <= INFLATED
    }
}
