@file:JvmSynthetic

package baton.sync.core

import baton.sync.BarrierBrokenException
import baton.sync.BarrierTimeoutException
import baton.waiting.WaitCore
import baton.waiting.Waiter
import baton.waiting.WaiterBatch
import baton.waiting.labelOf
import kotlin.coroutines.cancellation.CancellationException

/*
 * How it works
 *
 *               the last party arrives                the action ends
 *   gathering ─────────────────────▶ tripping ──────────────────────────▶ released
 *       │                               │    (without an action: at once)
 *       └───────────────────────────────┴──▶ failed    broken, or reset
 *
 * (1) A generation is a batch of waiting parties. One gathers at any time. At most one trips: its last party, the
 *     leader, runs the action and is in no batch. A trip is decided: a party that is cancelled then does not have to be
 *     replaced.
 * (2) While no generation trips, fewer than `parties` gather: the last party to arrive makes it trip. While one trips,
 *     arriving parties gather for the next, and when the action has ended, the first `parties` of them trip. So actions
 *     do not overlap, except one that a reset, or a break and a reset, has left running.
 * (3) While `breakage` is not null, no party waits to gather and every arrival is refused, until reset. A tripping
 *     generation may still be released then, if it is not the one that broke.
 * (4) If the leader's generation no longer trips when the action ends, a reset or a party that broke the barrier has
 *     failed it. The generation records the reason.
 * (5) A waiter's generation is the batch that it is in, or that it leads, or null once it is released. The arrival index
 *     of the leader is 0.
 *
 * All fields are guarded by the lock; `breakage` is also read without it.
 */
internal class BarrierCore(
    val parties: Int,
    private val hasAction: Boolean,
    private val breaksOnCancel: Boolean,
    private val name: String?,
    private val barrier: Any,
) : WaitCore() {
    @Volatile private var breakage: Breakage? = null
    private var gathering = Generation(parties)
    private var tripping: Generation? = null

    val isBroken: Boolean
        get() = breakage != null

    val waiting: Int
        get() = decide { queuedWaiters }

    fun describeState(): String {
        val count = waiting
        return if (isBroken) "broken, waiting = $count" else "waiting = $count"
    }

    private val mustWait: Boolean
        get() = tripping != null || gathering.size < parties - 1

    /**
     * Arrives if that needs no waiting. Otherwise changes nothing, except that it breaks the barrier if the caller
     * [givesUp] and cancellation breaks it.
     *
     * @return the generation that the caller completed and, if there is an action, has to lead; the [Breakage] if the
     *   arrival is refused; null if the caller has to wait.
     */
    fun arriveNow(givesUp: Boolean): Any? = decide {
        when {
            breakage != null -> breakage
            !mustWait -> trip()
            else -> {
                if (givesUp) breakOnAbandon(Waiter.TIMED_OUT)
                null
            }
        }
    }

    /** A party was cancelled before it arrived. */
    fun abandon() {
        decide { breakOnAbandon(Waiter.CANCELLED) }
    }

    override fun enqueue(waiter: Waiter): Int {
        noteWait(waiter)
        return decide { enqueueUnderLock(waiter) }
    }

    private fun enqueueUnderLock(waiter: Waiter): Int {
        val refusal = breakage
        when {
            refusal != null -> waiter.tryFail(refusal)
            mustWait -> {
                waiter.generation = gathering
                if (waiter.startGathering()) {
                    // From here on a canceller may resume it: its state must not be read again, or both threads would
                    // resume it.
                    gathering.add(waiter)
                    countPeak(queuedWaiters)
                    return Waiter.WAITING
                }
                breakOnAbandon(waiter.currentState)
            }
            else -> {
                waiter.generation = gathering
                waiter.arrivalIndex = 0
                if (waiter.tryGrant()) trip() else breakOnAbandon(waiter.currentState)
            }
        }
        return waiter.currentState
    }

    /** Trips the gathering generation, whose last party has arrived, and returns it. */
    private fun trip(): Generation {
        val complete = gathering
        if (hasAction) {
            tripping = complete
        } else {
            if (complete.size == 0) return complete
            complete.end()
            wake(complete)
        }
        gathering = Generation(parties)
        return complete
    }

    /** After an action has ended, trips the next generation if enough parties have arrived meanwhile. */
    private fun tripNext() {
        if (gathering.size < parties) return
        val next = Generation(parties)
        repeat(parties - 1) {
            val member = gathering.first()!!
            gathering.remove(member)
            member.generation = next
            next.add(member)
        }
        while (true) {
            val leader = gathering.first() ?: break
            gathering.remove(leader)
            leader.generation = next
            leader.arrivalIndex = 0
            if (leader.tryGrant()) {
                tripping = next
                wake(leader)
                return
            }
        }
        gathering = next
    }

    /** Why [generation] no longer trips, so that its leader must not start the action; null if it trips. */
    fun breakageBeforeLead(generation: WaiterBatch): Breakage? = decide {
        if (tripping === generation) null else generation.reason as Breakage?
    }

    /**
     * Releases [generation] after its action has succeeded. Returns the reason if it was failed meanwhile, else null.
     */
    fun endAction(generation: WaiterBatch): Breakage? = decide {
        if (tripping === generation) {
            tripping = null
            generation.end()
            wake(generation)
            tripNext()
        }
        generation.reason as Breakage?
    }

    /** Breaks the barrier because the action of [generation] has failed. */
    fun failAction(generation: WaiterBatch, cause: Throwable) {
        breakTripping(generation, Breakage(ACTION_FAILED, cause))
    }

    private fun breakTripping(generation: WaiterBatch, reason: Breakage) {
        decide {
            if (tripping === generation) {
                failTripping(reason)
                breakUp(reason)
            }
        }
    }

    fun abort(cause: Throwable?) {
        val reason = Breakage(ABORTED, cause)
        decide {
            failTripping(reason)
            breakUp(reason)
        }
    }

    fun reset() {
        val reason = Breakage(RESET)
        decide {
            failTripping(reason)
            failGathering(reason)
            breakage = null
        }
    }

    /** Refuses all arrivals from now on, and fails the gathering generation. */
    private fun breakUp(reason: Breakage) {
        if (breakage != null) return
        breakage = reason
        failGathering(reason)
    }

    private fun failTripping(reason: Breakage) {
        val failed = tripping ?: return
        tripping = null
        failed.end(reason)
        wake(failed)
    }

    private fun failGathering(reason: Breakage) {
        val failed = gathering
        if (failed.size == 0) return
        gathering = Generation(parties)
        failed.end(reason)
        wake(failed)
    }

    /** A party was cancelled or timed out before it was enqueued. */
    private fun breakOnAbandon(state: Int) {
        if (breaksOnCancel) breakUp(reasonOf(state))
    }

    private fun reasonOf(state: Int, cause: Throwable? = null) =
        Breakage(if (state == Waiter.TIMED_OUT) TIMED_OUT else CANCELLED, cause)

    override val queuedWaiters: Int
        get() = gathering.size + (tripping?.size ?: 0)

    override fun visitWaiters(limit: Int, visit: (Waiter) -> Unit) {
        tripping?.forFirst(limit, visit)
        gathering.forFirst(limit, visit)
    }

    override fun withdrawMember(waiter: Waiter) {
        // Exceptions must not be created under the lock.
        val cause = if (breaksOnCancel) waiter.whyWithdrawn() else null
        decide { withdrawUnderLock(waiter, cause) }
    }

    /**
     * A party that times out, or a thread that is interrupted, has not arrived. So once its batch has ended it is too
     * late for that, even if the party's state does not show the release yet.
     */
    override fun leaveUndecided(waiter: Waiter, to: Int): Int = decide {
        val batch = waiter.generation
        when {
            batch == null || batch.hasEnded -> Waiter.GRANTED
            !waiter.tryLeaveBatch(to) -> Waiter.PREPARING
            else -> {
                withdrawUnderLock(waiter, null)
                Waiter.WAITING
            }
        }
    }

    private fun withdrawUnderLock(waiter: Waiter, cause: Throwable?) {
        val batch = waiter.generation ?: return
        if (batch.hasEnded) return
        if (batch === tripping) (batch as Generation).number()
        if (waiter.queue != null) batch.remove(waiter)
        if (!breaksOnCancel) return
        val reason = reasonOf(waiter.currentState, cause)
        if (batch === tripping) failTripping(reason)
        breakUp(reason)
    }

    /**
     * The arrival of a released party counts even if the party is cancelled. Without its leader a generation breaks.
     */
    override fun giveBack(waiter: Waiter) {
        val generation = waiter.generation ?: return
        breakTripping(generation, Breakage(LEADER_CANCELLED, waiter.whyWithdrawn()))
    }

    override fun reclaim(waiter: Waiter): Waiter? {
        if (waiter.tryReturn()) giveBack(waiter)
        return null
    }

    override fun takeBack(waiter: Waiter) {}

    override fun grantOf(waiter: Waiter, otherwise: Any?): Any =
        if (waiter.arrivalIndex == 0 && hasAction) waiter.generation!! else waiter.arrivalIndex

    override fun failure(waiter: Waiter): Throwable = exception(waiter.outcome as Breakage)

    override fun label(): String = labelOf("Barrier", name)

    override fun toString(): String = barrier.toString()

    override fun verbOf(waiter: Waiter): String = "arrive"

    fun exception(why: Breakage): BarrierBrokenException {
        val verb = if (why.event == RESET) "was" else "is broken:"
        return BarrierBrokenException("${label()} $verb ${why.event}", why.cause ?: newCause(why.event))
    }

    private fun newCause(event: String): Throwable? =
        when (event) {
            CANCELLED -> CancellationException("arrive of ${label()} was cancelled")
            LEADER_CANCELLED -> CancellationException("arrive of ${label()} was cancelled after the last arrival")
            TIMED_OUT -> BarrierTimeoutException("arrive of ${label()} timed out")
            else -> null
        }

    private class Generation(parties: Int) : WaiterBatch() {
        /**
         * How many parties were missing after the one released last. A party that is cancelled now has an index too.
         */
        private var missing = parties
        private var isNumbered = false

        /** Gives all members their indexes: one of them leaves while the action runs, and the others keep theirs. */
        fun number() {
            if (!isNumbered) forFirst(size) { it.arrivalIndex = --missing }
            isNumbered = true
        }

        override fun admit(member: Waiter, place: Int) {
            if (!isNumbered) member.arrivalIndex = --missing
            member.generation = null
        }
    }

    /** The reason why a generation broke. */
    internal class Breakage(val event: String, val cause: Throwable? = null)

    private companion object {
        private const val ACTION_FAILED = "its action failed"
        private const val LEADER_CANCELLED = "its last party was cancelled"
        private const val CANCELLED = "a party was cancelled"
        private const val TIMED_OUT = "a party did not wait any longer"
        private const val ABORTED = "it was aborted"
        private const val RESET = "reset"
    }
}

private var Waiter.generation: WaiterBatch?
    get() = place as WaiterBatch?
    set(value) {
        place = value
    }

private var Waiter.arrivalIndex: Int
    get() = number
    set(value) {
        number = value
    }
