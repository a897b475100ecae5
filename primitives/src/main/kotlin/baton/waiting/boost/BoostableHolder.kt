package baton.waiting.boost

import baton.Boosting
import baton.Priority
import baton.waiting.coroutine.Trampoline
import kotlin.coroutines.ContinuationInterceptor
import kotlin.coroutines.CoroutineContext

/**
 * A coroutine that holds a lock and can be lifted; it stands in one of the rings of an [PriorityInheritance], in whose
 * comment is who guards it.
 */
internal class BoostableHolder(private val context: CoroutineContext) : Ring() {
    /** From the moment at which it gets the lock until it has none. */
    var isIn = false

    /** Somebody changes its boost, and only that one may look at what follows. */
    var isBusy = false

    /** To which level it is lifted; [PriorityInheritance.NONE] if it is not. */
    var level: Int = PriorityInheritance.NONE
        private set
    private var boost: Boosting.Boost? = null

    val isLifted: Boolean get() = boost != null

    /** The new boost first: in between it does not sink below both. Foreign code, so not under the lock. */
    fun lift(to: Int) {
        val before = boost
        boost = null
        level = to
        try {
            if (to != PriorityInheritance.NONE) {
                val boosting = context[ContinuationInterceptor] as Boosting
                boost = boosting.boost(context, Priority.entries[to])
            }
        } catch (e: Throwable) {
            Trampoline.report(e)
        }
        Trampoline.guarded { before?.end() }
    }
}

/** A ring of holdings, closed by one that stands for nobody: to leave it a holding need not know which it is. */
internal open class Ring {
    private var previous: Ring = this
    private var next: Ring = this

    val first: BoostableHolder? get() = next as? BoostableHolder

    fun add(holding: BoostableHolder) {
        addAll(holding, holding)
    }

    /** All of [other], which is empty then. O(1). */
    fun takeAll(other: Ring) {
        if (other.next === other) return
        val first = other.next
        val last = other.previous
        other.unlinkAll()
        addAll(first, last)
    }

    private fun unlinkAll() {
        previous = this
        next = this
    }

    private fun addAll(first: Ring, last: Ring) {
        first.previous = previous
        previous.next = first
        last.next = this
        previous = last
    }

    /** Out of the ring that it stands in, if it does. */
    fun unlink() {
        previous.next = next
        next.previous = previous
        unlinkAll()
    }
}
