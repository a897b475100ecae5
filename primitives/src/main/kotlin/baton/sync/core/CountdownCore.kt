package baton.sync.core

import baton.waiting.Gate
import baton.waiting.Symbol
import baton.waiting.Waiter
import baton.waiting.coroutine.SelectClauses
import baton.waiting.coroutine.SelectWaiter
import baton.waiting.coroutine.SelectableCore
import baton.waiting.labelOf
import baton.waiting.threads.requireStack
import java.lang.invoke.MethodHandles
import java.lang.invoke.VarHandle
import java.lang.ref.WeakReference
import java.util.WeakHashMap
import kotlinx.coroutines.InternalCoroutinesApi
import kotlinx.coroutines.selects.SelectClause0
import kotlinx.coroutines.selects.SelectInstance

/*
 * How it works
 *
 *       increment(n)            increment(n), decrement()
 *   0 ──────────────▶ count > 0 ⟲
 *   0 ◀────────────── count = 1
 *       decrement(), under the lock: releases all waiters
 *
 * (1) Every change of the count is one compare-and-set by any thread, but the change to zero is made under the lock. So
 *     a count above zero that is read under the lock stays above zero until the lock is free, as a [Gate] requires.
 * (2) The request of a waiter is ALREADY_ADMITTED for a clause that a zero has granted while its select was still
 *     registering other clauses: kotlinx then registers that clause again, and it must not wait for another zero.
 *
 * A latch is a countdown whose count never grows.
 */
internal class CountdownCore(
    initial: Int,
    private val kind: String,
    private val name: String?,
    private val primitive: Any,
) : Gate() {
    @Volatile
    var count: Int = initial
        private set

    override val isPassing: Boolean
        get() = count == 0

    /** False when the count would be above [Int.MAX_VALUE]; nothing has changed then. */
    fun increment(n: Int): Boolean {
        while (true) {
            val now = count
            if (n > Int.MAX_VALUE - now) return false
            if (COUNT.compareAndSet(this, now, now + n)) return true
        }
    }

    /** False when the count is zero already. */
    fun decrement(): Boolean {
        while (true) {
            val now = count
            when (now) {
                0 -> return false
                1 -> if (decide { reachZero() }) return true
                else -> if (COUNT.compareAndSet(this, now, now - 1)) return true
            }
        }
    }

    /** Under the lock. False when the count is not 1 any more. */
    private fun reachZero(): Boolean {
        // A latch reaches zero once: its waiters would wait for ever.
        if (queuedWaiters > 0) requireStack()
        if (!COUNT.compareAndSet(this, 1, 0)) return false
        releaseAll()
        return true
    }

    override fun enqueue(waiter: Waiter): Int {
        noteWait(waiter)
        return decide {
            // A waiter that is in the batch by half would be counted out of it.
            requireStack()
            join(waiter, passes = isPassing || waiter.request === ALREADY_ADMITTED)
        }
    }

    override fun label(): String = labelOf(kind, name)

    override fun toString(): String = primitive.toString()

    override fun verbOf(waiter: Waiter): String = "await"

    fun clause(): SelectClause0 = SelectClauses.clause0(Clause())

    @OptIn(InternalCoroutinesApi::class)
    private inner class Clause : SelectableCore() {
        /** The latest waiter of each select; a clause may be stored and serve several selects at a time. */
        private val latestWaiters = WeakHashMap<SelectInstance<*>, WeakReference<SelectWaiter>>(1)

        override fun valueOf(winner: SelectWaiter): Unit = Unit

        @Synchronized
        override fun waiter(clause: Any, select: SelectInstance<*>, param: Any?): SelectWaiter {
            val request = if (wasAdmitted(latestWaiters[select])) ALREADY_ADMITTED else null
            val waiter = SelectWaiter(this@CountdownCore, 1, request, clause, select)
            latestWaiters[select] = WeakReference(waiter)
            return waiter
        }

        /** A waiter that was not granted is in a batch, which keeps it alive, until its select ends. */
        private fun wasAdmitted(former: WeakReference<SelectWaiter>?): Boolean {
            if (former == null) return false
            val state = former.get()?.currentState ?: return true
            return state == Waiter.GRANTED || state == Waiter.RETURNED
        }
    }

    private companion object {
        private val ALREADY_ADMITTED = Symbol("ALREADY_ADMITTED")

        private val COUNT: VarHandle =
            MethodHandles.lookup().findVarHandle(CountdownCore::class.java, "count", Int::class.javaPrimitiveType)
    }
}
