package baton.sync

import baton.monitoring.Monitored
import baton.monitoring.Usage
import baton.monitoring.core.AlertBounds
import baton.monitoring.core.listIfNamed
import baton.monitoring.toUsage
import baton.sync.core.BarrierCore
import baton.waiting.WaiterBatch
import baton.waiting.coroutine.awaitValue
import baton.waiting.coroutine.isExplored
import baton.waiting.coroutine.withCallerFrames
import baton.waiting.lookAtWaiters
import kotlin.coroutines.coroutineContext
import kotlin.time.Duration
import kotlinx.coroutines.Job
import kotlinx.coroutines.ensureActive

/**
 * A cyclic barrier: a fixed number of parties wait for each other, and none goes on before all have arrived. The
 * barrier is then ready for the next generation at once.
 *
 * Use it for work in phases, such as "all compute their part, then all read the whole". To wait for others that do not
 * wait for you, use `Latch` or `WaitGroup`; for coroutines that end with the phase, `coroutineScope` is simpler.
 *
 * ```
 * val barrier = Barrier(parties = 3) { swapPages() }
 * repeat(3) { part -> launch { while (true) { compute(part); barrier.arrive() } } }
 * ```
 *
 * *Waiting.* [arrive] suspends until the last party has arrived and the action, if there is one, has ended. The last
 * party does not wait: it runs the action in its own coroutine.
 *
 * *Order.* The parties go on in the order in which they arrived, coroutines and the futures of the Java API alike.
 * There may be more callers than parties: a party that arrives while the action runs joins a later generation. Actions
 * overlap only if a [reset] came between.
 *
 * *Cancellation.* See [BarrierCancellation]: a party that is cancelled or timed out retracts its arrival, or breaks the
 * barrier. While the action runs, the trip is decided: under RETRACT a cancelled party then just throws, and needs no
 * replacement. After the barrier has released a party, its cancellation does not affect the others. If the last party
 * is cancelled while the action runs, or the action fails, the barrier breaks: the last party throws that exception,
 * and all others throw [BarrierBrokenException] with it as the cause. A call that does not have to wait does not check
 * for cancellation.
 *
 * *Memory.* Actions of a party before it arrives happen before the barrier's action, and that happens before the
 * actions of any party of the same generation after its [arrive] has returned.
 *
 * *Misuse.* A broken barrier refuses arrivals with [BarrierBrokenException] until [reset]. An action that itself
 * arrives here waits for a generation that cannot trip before the action has ended.
 *
 * All members may be called from any thread.
 *
 * @property parties the number of parties that must arrive, at least 1.
 * @property onCancel the effect of a cancelled or timed-out party on the others.
 * @property name shown by messages and [toString].
 * @param action runs each time all parties have arrived, before any of them goes on. It may suspend.
 */
public class Barrier(
    public val parties: Int,
    public val onCancel: BarrierCancellation = BarrierCancellation.RETRACT,
    public override val name: String? = null,
    private val action: (suspend () -> Unit)? = null,
) : Monitored {
    private val breaksOnCancel = onCancel == BarrierCancellation.BREAK
    @get:JvmSynthetic internal val core: BarrierCore

    init {
        require(parties >= 1) { "parties = $parties, must be at least 1" }
        core = BarrierCore(parties, action != null, breaksOnCancel, name, this)
        listIfNamed(core)
    }

    /** How many parties wait, for others to arrive or for the action to end. */
    public val waiting: Int
        get() = core.waiting

    /**
     * The parties that wait, of the [parties]; there may be more while an action runs. Monitors raise no alert for that
     * share, unless the source has rules of its own: how long the parties wait is what says that one is missing.
     */
    override fun usage(): Usage {
        val look = core.lookAtWaiters()
        return look.toUsage(inUse = look.waiting.toLong(), parties.toLong(), bounds = AlertBounds.NONE)
    }

    /** Whether the barrier refuses arrivals, until [reset]. */
    public val isBroken: Boolean
        get() = core.isBroken

    /**
     * Arrives, and waits for the other parties.
     *
     * *Cancellation.* Before the barrier has tripped, as [onCancel] says; after that the arrival still counts.
     *
     * @return how many parties were still missing: the first one gets `parties - 1`, the last one 0. No two parties of
     *   one generation get the same number.
     * @throws BarrierBrokenException if the barrier is broken, before the call or while the caller waits, or is [reset]
     *   while the caller waits.
     */
    public suspend fun arrive(): Int {
        val now = if (isExplored()) null else arriveNow(givesUp = false)
        if (now != null) return indexOrLead(now)
        // A call at the end makes no frame, unless it leaves arguments to their defaults.
        return if (action == null) awaitValue(core, 1, null) else awaitOrLead()
    }

    /**
     * Arrives, and waits [timeout] at most for the other parties, in the clock of the caller's dispatcher. With zero or
     * less all others must have arrived already. The duration of the action counts for waiting parties, not for the
     * last one.
     *
     * *Cancellation.* As [arrive]. A timeout has the effect of a cancellation on the other parties, see [onCancel].
     *
     * @throws BarrierTimeoutException if the time is over before the barrier releases the caller.
     * @throws BarrierBrokenException as [arrive].
     */
    public suspend fun arrive(timeout: Duration): Int {
        val now = if (isExplored(timeout)) null else arriveNow(givesUp = timeout <= Duration.ZERO)
        return if (now != null) indexOrLead(now) else awaitOrLead(timeout)
    }

    private suspend fun awaitOrLead(): Int = indexOrLead(awaitValue(core))

    private suspend fun awaitOrLead(timeout: Duration): Int {
        if (timeout <= Duration.ZERO) throw late(timeout)
        val outcome = awaitValue<Any>(core, timeout)
        return if (outcome == false) throw late(timeout).withCallerFrames() else indexOrLead(outcome)
    }

    private fun late(timeout: Duration): BarrierTimeoutException {
        val state = toString()
        return BarrierTimeoutException("not all arrived within $timeout: $state")
    }

    private suspend fun indexOrLead(outcome: Any): Int = if (outcome is Int) outcome else lead(outcome as WaiterBatch)

    /**
     * Arrives if that needs no waiting: returns the arrival index, or the generation that the caller has to [lead]
     * first. Otherwise returns null and changes nothing, except that it breaks the barrier if the caller [givesUp] and
     * [onCancel] is BREAK.
     */
    @JvmSynthetic
    internal fun arriveNow(givesUp: Boolean): Any? {
        val now = core.arriveNow(givesUp)
        if (now is BarrierCore.Breakage) throw core.exception(now)
        return if (now == null || action != null) now else 0
    }

    /**
     * Runs the action for the last party. If the party is cancelled meanwhile the barrier breaks, even if the action
     * ignored the cancellation.
     */
    @JvmSynthetic
    internal suspend fun lead(generation: WaiterBatch): Int {
        // A reset or an abort may have come between the grant and this call.
        core.breakageBeforeLead(generation)?.let { throw core.exception(it).withCallerFrames() }
        val job = coroutineContext[Job]?.takeIf { it.isActive }
        try {
            action!!()
            job?.ensureActive()
        } catch (e: Throwable) {
            core.failAction(generation, e)
            throw e
        }
        core.endAction(generation)?.let { throw core.exception(it).withCallerFrames() }
        return 0
    }

    /**
     * Breaks the barrier, on behalf of a party that will not arrive. Waiting parties get [BarrierBrokenException] with
     * [cause]; if an action is running, the last party gets it when the action ends. A barrier that is already broken
     * keeps its cause.
     */
    public fun abort(cause: Throwable? = null) {
        core.abort(cause)
    }

    /**
     * Makes the barrier usable again at once, broken or not. Waiting parties get [BarrierBrokenException]; if an action
     * is running, the last party gets it when the action ends. That action continues, and the next one does not wait
     * for it.
     */
    public fun reset() {
        core.reset()
    }

    override fun toString(): String = "${core.label()} (parties = $parties, ${core.describeState()})"
}
