package baton.waiting.boost

import baton.Boosting
import baton.Priority
import baton.waiting.BoostableCoroutine
import baton.waiting.threads.Trampoline
import kotlin.coroutines.ContinuationInterceptor

/**
 * A coroutine that holds a lock and can be boosted, a member of one of the rings of a [PriorityInheritance], whose
 * comment says what guards it.
 */
internal class BoostableHolder(private val coroutine: BoostableCoroutine) : Ring() {
    /** Whether it holds the lock. */
    var isIn = false

    /** Whether a thread changes its boost; the fields below are that thread's then. */
    var isBusy = false

    /** The level of its boost; [PriorityInheritance.NONE] if it has none. */
    var level: Int = PriorityInheritance.NONE
        private set

    private var boost: Boosting.Boost? = null

    val isBoosted: Boolean
        get() = boost != null

    /**
     * Begins the new boost before it ends the old one, so that the level never falls below both. Foreign code: no lock.
     */
    fun boost(to: Int) {
        val before = boost
        boost = null
        level = to
        try {
            if (to != PriorityInheritance.NONE) {
                val context = coroutine.context
                val boosting = context[ContinuationInterceptor] as Boosting
                boost = boosting.boost(context, Priority.entries[to])
            }
        } catch (e: Throwable) {
            Trampoline.report(e)
        }
        Trampoline.guarded { before?.end() }
    }
}

/** A ring of holders, closed by a sentinel: to leave, a holder need not know in which ring it is. */
internal open class Ring {
    private var previous: Ring = this
    private var next: Ring = this

    val first: BoostableHolder?
        get() = next as? BoostableHolder

    fun add(holder: BoostableHolder) {
        addAll(holder, holder)
    }

    /** Moves all of [other] here. O(1). */
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

    /** Leaves its ring, if it is in one. */
    fun unlink() {
        previous.next = next
        next.previous = previous
        unlinkAll()
    }
}
