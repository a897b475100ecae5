package baton.sync

import baton.waiting.WaitCore
import baton.waiting.Waiter
import baton.waiting.WaiterBatch
import baton.waiting.coroutine.SelectClauses
import baton.waiting.coroutine.SelectWaiter
import baton.waiting.coroutine.SelectableCore
import baton.waiting.coroutine.awaitGrant
import java.lang.invoke.MethodHandles
import java.lang.invoke.VarHandle
import java.lang.ref.WeakReference
import java.util.WeakHashMap
import kotlin.time.Duration
import kotlinx.coroutines.InternalCoroutinesApi
import kotlinx.coroutines.selects.SelectClause0
import kotlinx.coroutines.selects.SelectInstance

/*
 * How it works
 *
 *            up(n)              up(n), down()
 *   0 ──────────────▶ count > 0 ⟲
 *   0 ◀────────────── count = 1
 *       down(), under the lock: the crowd that gathers is ended
 *
 * (1) Every change of the count is one compare-and-set by anybody, but the one to zero is made under the lock. So a
 *     count above zero that is read under the lock stays above zero until the lock is free.
 * (2) Whoever finds it above zero under the lock joins the crowd that gathers; whoever finds zero is let in. With (1),
 *     there are members only while the count is above zero, and nobody is told of a zero that was before it came.
 * (3) Zero ends the crowd; the next to wait begins a new one. All members of a crowd, and nobody else, are let in by
 *     the same zero, although the count may have grown again before they run.
 * (4) A waiter's tag is its crowd, so that a canceller finds out whether that still gathers: if not, there is nothing
 *     to leave. Or it is TOLD: a clause that a zero has let in while its select was still registering others. kotlinx
 *     has it join again then, and it must not wait for another zero.
 * (5) Those let in have got nothing that could be given back.
 *
 * A latch is this with a count that never grows.
 */
internal class CountdownCore(initial: Int) : WaitCore() {
    @Volatile
    var count: Int = initial
        private set

    // Guarded by the lock. Without members it may be null.
    private var gathering: WaiterBatch? = null

    val waiting: Int get() = decide { gathering?.size ?: 0 }

    /** False when the count would be above [Int.MAX_VALUE]; nothing has changed then. */
    fun up(n: Int): Boolean {
        while (true) {
            val now = count
            if (n > Int.MAX_VALUE - now) return false
            if (COUNT.compareAndSet(this, now, now + n)) return true
        }
    }

    /** False when the count is zero already. */
    fun down(): Boolean {
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
        if (!COUNT.compareAndSet(this, 1, 0)) return false
        gathering?.let {
            it.end()
            wake(it)
        }
        gathering = null
        return true
    }

    /** Waits for zero. */
    suspend fun await() {
        if (count == 0) return
        awaitGrant(this, weight = 1, tag = null)
    }

    /** As the other, [timeout] at most; answers whether there was a zero in time. */
    suspend fun await(timeout: Duration): Boolean {
        if (count == 0) return true
        if (timeout <= Duration.ZERO) return false
        return awaitGrant(this, weight = 1, tag = null, timeout = timeout)
    }

    override fun enqueue(waiter: Waiter): Int = decide { enqueueInside(waiter) }

    private fun enqueueInside(waiter: Waiter): Int {
        if (count == 0 || waiter.tag === TOLD) {
            waiter.tryGrant()
        } else if (waiter.startWaiting()) {
            // From here on a canceller may resume it: its state must not be read again, or both would.
            val crowd = gathering ?: WaiterBatch().also { gathering = it }
            waiter.tag = crowd
            crowd.add(waiter)
            return Waiter.WAITING
        }
        return waiter.currentState
    }

    override fun withdraw(waiter: Waiter) {
        decide {
            val crowd = waiter.tag as WaiterBatch?
            if (crowd != null && !crowd.hasEnded) crowd.remove(waiter)
        }
    }

    override fun takeBack(waiter: Waiter) {}

    override fun failure(waiter: Waiter): Throwable = IllegalStateException("a countdown does not fail")

    fun clause(): SelectClause0 = SelectClauses.clause0(Clause())

    @OptIn(InternalCoroutinesApi::class)
    private inner class Clause : SelectableCore() {
        /** What joined last for each select; a clause may be stored and serve several selects at a time. */
        private val joined = WeakHashMap<SelectInstance<*>, WeakReference<SelectWaiter>>(1)

        override fun valueOf(winner: SelectWaiter): Unit = Unit

        @Synchronized
        override fun waiter(clause: Any, select: SelectInstance<*>, param: Any?): SelectWaiter {
            val tag = if (wasLetIn(joined[select])) TOLD else null
            return SelectWaiter(this@CountdownCore, 1, tag, clause, select).also { joined[select] = WeakReference(it) }
        }

        /** Until its select ends, a waiter that was not let in stands in a crowd, which keeps it alive. */
        private fun wasLetIn(former: WeakReference<SelectWaiter>?): Boolean {
            if (former == null) return false
            val state = former.get()?.currentState ?: return true
            return state == Waiter.GRANTED || state == Waiter.RETURNED
        }
    }

    private companion object {
        private val TOLD = Any()

        private val COUNT: VarHandle =
            MethodHandles.lookup().findVarHandle(CountdownCore::class.java, "count", Int::class.javaPrimitiveType)
    }
}
