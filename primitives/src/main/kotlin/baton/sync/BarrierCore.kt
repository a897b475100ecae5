package baton.sync

import baton.waiting.WaitCore
import baton.waiting.Waiter
import baton.waiting.WaiterBatch
import kotlin.coroutines.cancellation.CancellationException

/*
 * How it works
 *
 *               the last one comes                    the action ends
 *   gathering ─────────────────────▶ tripping ──────────────────────────▶ let in
 *       │                               │    (without an action: at once)
 *       └───────────────────────────────┴──▶ failed    broken, or reset
 *
 * (1) A generation is a crowd of those who wait. One gathers at any time. At most one trips: its last party, the
 *     leader, runs the action and stands in no crowd. Tripping is decided: who leaves then, leaves no place to be
 *     filled.
 * (2) While none trips, fewer than `parties` gather: the last one to come makes it trip. While one trips, whoever comes
 *     just gathers, and when the action has ended, the first `parties` of them trip. So actions do not overlap, but for
 *     one that a reset, or a break and a reset, has left behind.
 * (3) `breakage` not null: nobody gathers, nobody may come, until reset. A generation that trips may still be let in
 *     then, if it is not the one that broke.
 * (4) A leader whose generation does not trip any more when its action ends was overtaken by a reset, or by a party
 *     that broke it. The generation knows why.
 * (5) A waiter's tag is the crowd it stands in, or the generation it leads, or null once it is let in; its weight
 *     becomes its arrival index: 0 says that it leads.
 *
 * All fields are guarded by the lock; `breakage` is read without it, too.
 */
internal class BarrierCore(
    val parties: Int,
    private val hasAction: Boolean,
    private val breaks: Boolean,
    private val label: () -> String,
) : WaitCore() {
    @Volatile
    private var breakage: Breakage? = null
    private var gathering = Generation(parties)
    private var tripping: Generation? = null

    val isBroken: Boolean get() = breakage != null

    val waiting: Int get() = decide { gathering.size + (tripping?.size ?: 0) }

    fun describe(): String {
        val count = waiting
        return if (isBroken) "broken, waiting = $count" else "waiting = $count"
    }

    private val mustWait: Boolean get() = tripping != null || gathering.size < parties - 1

    /**
     * Arrives if that needs no waiting; otherwise nothing has happened, unless the caller [givesUp] then and that
     * breaks.
     *
     * @return the generation that the caller completed and, if there is an action, has to lead; what it was refused
     *   for; or null.
     */
    fun arriveNow(givesUp: Boolean): Any? =
        decide {
            when {
                breakage != null -> breakage
                !mustWait -> trip()
                else -> {
                    if (givesUp) abandon(Waiter.TIMED_OUT)
                    null
                }
            }
        }

    override fun enqueue(waiter: Waiter): Int = decide { enqueueInside(waiter) }

    private fun enqueueInside(waiter: Waiter): Int {
        val refusal = breakage
        when {
            refusal != null -> waiter.tryFail(refusal)
            mustWait -> {
                waiter.tag = gathering
                if (waiter.startWaiting()) {
                    // From here on a canceller may resume it: its state must not be read again, or both would.
                    gathering.add(waiter)
                    return Waiter.WAITING
                }
                abandon(waiter.currentState)
            }
            else -> {
                waiter.tag = gathering
                waiter.weight = 0
                if (waiter.tryGrant()) trip() else abandon(waiter.currentState)
            }
        }
        return waiter.currentState
    }

    /** The last one has come. Answers the generation. */
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

    /** An action has ended, and those who came meanwhile may be enough for the next one. */
    private fun tripNext() {
        if (gathering.size < parties) return
        val next = Generation(parties)
        repeat(parties - 1) {
            val member = gathering.first()!!
            gathering.remove(member)
            member.tag = next
            next.add(member)
        }
        while (true) {
            val leader = gathering.first() ?: break
            gathering.remove(leader)
            leader.tag = next
            leader.weight = 0
            if (leader.tryGrant()) {
                tripping = next
                wake(leader)
                return
            }
        }
        gathering = next
    }

    /** Why the leader need not begin with its action, or null. */
    fun whyNotLead(generation: WaiterBatch): Breakage? =
        decide { if (tripping === generation) null else generation.reason as Breakage? }

    /** The leader's action has ended well. Why its party fails all the same, or null. */
    fun endAction(generation: WaiterBatch): Breakage? =
        decide {
            if (tripping === generation) {
                tripping = null
                generation.end()
                wake(generation)
                tripNext()
            }
            generation.reason as Breakage?
        }

    /** The leader's action has failed. */
    fun failAction(generation: WaiterBatch, cause: Throwable) {
        breakLed(generation, Breakage(ACTION_FAILED, cause))
    }

    private fun breakLed(generation: WaiterBatch, reason: Breakage) {
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

    /** From now on nobody may come. */
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

    /** Somebody has left before it was among those who wait. */
    private fun abandon(state: Int) {
        if (breaks) breakUp(reasonOf(state))
    }

    private fun reasonOf(state: Int, cause: Throwable? = null) =
        Breakage(if (state == Waiter.TIMED_OUT) TIMED_OUT else CANCELLED, cause)

    override fun withdraw(waiter: Waiter) {
        // An exception is not made under the lock.
        val cause = if (breaks) waiter.whyWithdrawn() else null
        decide { withdrawInside(waiter, cause) }
    }

    /**
     * Whoever is timed out has not arrived. So it is too late for one whose crowd has ended, even if it is not told
     * yet.
     */
    override fun timeOut(waiter: Waiter): Int =
        decide {
            val crowd = waiter.tag as? WaiterBatch
            when {
                crowd == null || crowd.hasEnded -> Waiter.GRANTED
                !waiter.tryLeave(Waiter.TIMED_OUT) -> Waiter.PREPARING
                else -> {
                    withdrawInside(waiter, null)
                    Waiter.WAITING
                }
            }
        }

    private fun withdrawInside(waiter: Waiter, cause: Throwable?) {
        val crowd = waiter.tag as WaiterBatch? ?: return
        if (crowd.hasEnded) return
        if (waiter.linked) crowd.remove(waiter)
        if (!breaks) return
        val reason = reasonOf(waiter.currentState, cause)
        if (crowd === tripping) failTripping(reason)
        breakUp(reason)
    }

    /** A party that was let in and is cancelled has arrived all the same. Without its leader a generation breaks. */
    override fun giveBack(waiter: Waiter) {
        val generation = waiter.tag as WaiterBatch? ?: return
        breakLed(generation, Breakage(LEADER_CANCELLED, waiter.whyWithdrawn()))
    }

    override fun reclaim(waiter: Waiter): Waiter? {
        if (waiter.tryReturn()) giveBack(waiter)
        return null
    }

    override fun takeBack(waiter: Waiter) {}

    override fun grantOf(waiter: Waiter, otherwise: Any?): Any =
        if (waiter.weight == 0 && hasAction) waiter.tag!! else waiter.weight

    override fun failure(waiter: Waiter): Throwable = exception(waiter.reason as Breakage)

    fun exception(why: Breakage): BarrierBrokenException {
        val verb = if (why.event == RESET) "was" else "is broken:"
        return BarrierBrokenException("${label()} $verb ${why.event}", why.cause)
    }

    private class Generation(parties: Int) : WaiterBatch() {
        /**
         * How many were missing after the one that was let in last. A party that is cancelled now has its number, too.
         */
        private var missing = parties

        override fun admit(member: Waiter, place: Int) {
            member.weight = --missing
            member.tag = null
        }
    }

    /** What broke a generation. */
    internal class Breakage(val event: String, private val known: Throwable? = null) {
        /** Not under the lock: one that is not known is made when somebody asks. */
        val cause: Throwable?
            get() =
                known ?: when (event) {
                    CANCELLED, LEADER_CANCELLED -> CancellationException(event)
                    TIMED_OUT -> BarrierTimeoutException(event)
                    else -> null
                }
    }

    private companion object {
        private const val ACTION_FAILED = "its action failed"
        private const val LEADER_CANCELLED = "its last party was cancelled"
        private const val CANCELLED = "a party was cancelled"
        private const val TIMED_OUT = "a party did not wait any longer"
        private const val ABORTED = "it was aborted"
        private const val RESET = "reset"
    }
}
