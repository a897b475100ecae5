package baton.sync.core

import baton.waiting.FifoWaitQueue
import baton.waiting.WaitCore
import baton.waiting.Waiter
import baton.waiting.holders.holder
import java.lang.invoke.MethodHandles
import java.lang.invoke.VarHandle

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
 *    addition that a request which does not wait is refused: no thread needs the lock to know that.
 * 3. A decision that needs the fields begins with [inflate] and ends with [updateWord]. It sees one consistent state,
 *    because [inflate] takes the plain word away in one step. After one that has thrown, the word is INFLATED.
 *
 * So a count is exact: it is read from the plain word, or under the lock.
 */
internal abstract class InflatingCore(@Volatile @JvmField var word: Long) : WaitCore() {
    /** Moves the content of the plain [word] into the fields. Under the lock. */
    protected abstract fun readWord(word: Long)

    /** The word that the fields demand: plain as soon as nothing needs the fields. Under the lock. */
    protected abstract fun demandedWord(): Long

    fun compareAndSet(expected: Long, new: Long): Boolean = WORD.compareAndSet(this, expected, new)

    /** Runs [decision] under the lock, with the word inflated, and then sets the word to its result. */
    inline fun <T> decideInflated(crossinline decision: () -> T): T = decide { inflated(decision) }

    /** Runs [decision] with the word inflated, and then sets the word to its result. Under the lock. */
    inline fun <T> inflated(decision: () -> T): T {
        inflate()
        return try {
            decision().also { updateWord() }
        } catch (e: Throwable) {
            word = INFLATED
            throw e
        }
    }

    /** Takes back, between [inflate] and [updateWord], what was granted to [waiter], and passes it on. */
    protected abstract fun takeBackInflated(waiter: Waiter)

    final override fun takeBack(waiter: Waiter) = inflated { takeBackInflated(waiter) }

    /** As [removeWithdrawn], between [inflate] and [updateWord]. */
    protected abstract fun removeInflated(waiter: Waiter)

    final override fun removeWithdrawn(waiter: Waiter) = inflated { removeInflated(waiter) }

    /** Makes the fields the state, until [updateWord]. Under the lock. */
    fun inflate() {
        while (true) {
            val seen = word
            if (isGuarded(seen)) return
            // Before the word changes: the fields have no meaning until then, and this may fail for want of stack.
            readWord(seen)
            if (compareAndSet(seen, INFLATED)) return
        }
    }

    /** Sets the word that the fields demand. No other thread changes it meanwhile. Under the lock. */
    fun updateWord() {
        val former = word
        val demanded = demandedWord()
        when (former) {
            demanded -> {}
            // Requests are refused by BLOCKED without the lock. None may be while its end is on the way to a processor.
            BLOCKED -> word = demanded
            else -> setWordLazily(demanded)
        }
    }

    /** For a thread that alone may change it now. Waits for no other processor to see it. */
    protected fun setWordLazily(value: Long) {
        WORD.setRelease(this, value)
    }

    // ---- the plain case, in which a queue of first come, first served, and its head are all there is. Under the lock,
    // outside inflate() and updateWord().

    /**
     * Adds [waiter] to [queue] if that is all there is to do: the word is BLOCKED, or a plain one that [isTaken], and
     * the caller of the waiter is not known. Else false, and nothing has changed.
     */
    protected inline fun enqueuePlainly(
        waiter: Waiter,
        queue: FifoWaitQueue,
        crossinline isTaken: (Long) -> Boolean,
    ): Boolean {
        if (waiter.holder != null) return false
        val seen = word
        if (seen != BLOCKED) {
            if (isGuarded(seen) || !isTaken(seen)) return false
            readWord(seen)
            if (!compareAndSet(seen, BLOCKED)) return false
        }
        if (!waiter.startWaiting()) {
            if (seen != BLOCKED) word = seen
            return false
        }
        queue.add(waiter)
        countPeak(queue.size)
        return true
    }

    /**
     * Grants the head of [queue] what a holder returns, if that is all there is to do: no holder or waiter is known.
     * The word becomes [taken] with the last waiter. Else null, and nothing has changed.
     */
    protected fun handOverPlainly(queue: FifoWaitQueue, taken: Long): Waiter? {
        val head = queue.head()
        if (head == null || word != BLOCKED || knownHolders != null) return null
        // The deepest call first: if the stack has no room for it, nothing has changed.
        head.grantQueued()
        queue.removeHead(head)
        if (queue.size == 0) setWordLazily(taken)
        return head
    }

    internal companion object {
        const val INFLATED = -2L
        const val BLOCKED = -3L

        fun isGuarded(word: Long) = word <= INFLATED

        private val WORD: VarHandle =
            MethodHandles.lookup().findVarHandle(InflatingCore::class.java, "word", Long::class.javaPrimitiveType)
    }
}
