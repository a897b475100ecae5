package baton.sync

import baton.waiting.WaiterBatch
import baton.waiting.coroutine.awaitValue
import kotlin.coroutines.coroutineContext
import kotlin.time.Duration
import kotlinx.coroutines.Job
import kotlinx.coroutines.ensureActive

/**
 * Where a fixed number of parties wait for each other: nobody goes on before all have arrived. Then it is ready for the
 * next time, at once.
 *
 * Use it for work in phases, such as "all compute their part, then all read the whole". To wait for others without
 * being waited for, use `Latch` or `WaitGroup`; for coroutines that end with the phase, `coroutineScope` is simpler.
 *
 * ```
 * val barrier = Barrier(parties = 3) { swapPages() }
 * repeat(3) { part -> launch { while (true) { compute(part); barrier.arrive() } } }
 * ```
 *
 * *Waiting.* [arrive] suspends until the last party has come and its action, if there is one, has ended. The last party
 * does not wait, it runs the action in its own coroutine.
 *
 * *Order.* The parties go on in the order in which they came, coroutines and the futures of the Java face alike. There
 * may be more callers than parties: who comes while an action runs waits for a later generation. Actions
 * overlap only where [reset] came between.
 *
 * *Cancellation.* See [BarrierCancellation]: a party that is cancelled or whose time is over takes its arrival back, or
 * breaks the barrier. While the action runs, the trip is decided: under RETRACT the party just leaves then. After
 * it was let go, its cancellation changes nothing for the others. If the last party is cancelled while the action runs,
 * or the action fails, the barrier breaks: the last party throws just that, all others [BarrierBrokenException] with it
 * as the cause. A call that need not wait does not look for cancellation.
 *
 * *Memory.* What a party does before it arrives happens before the action, and that before whatever any party of the
 * same generation does after its [arrive] has returned.
 *
 * *Misuse.* A broken barrier refuses arrivals with [BarrierBrokenException] until [reset]. An action that itself
 * arrives here waits for a generation that cannot trip before the action has ended.
 *
 * All members may be called from any thread.
 *
 * @property parties how many must arrive, at least 1.
 * @property onCancel what happens when a party leaves.
 * @property name shown by messages and [toString].
 * @param action runs each time all have arrived, before anybody goes on. It may suspend.
 */
public class Barrier(
    public val parties: Int,
    public val onCancel: BarrierCancellation = BarrierCancellation.RETRACT,
    public val name: String? = null,
    private val action: (suspend () -> Unit)? = null,
) {
    private val breaks = onCancel == BarrierCancellation.BREAK
    internal val core: BarrierCore

    init {
        require(parties >= 1) { "parties = $parties, must be at least 1" }
        core = BarrierCore(parties, action != null, breaks, ::label)
    }

    /** How many wait here, for others to come or for the action to end. */
    public val waiting: Int get() = core.waiting

    /** Whether it refuses arrivals, until [reset]. */
    public val isBroken: Boolean get() = core.isBroken

    /**
     * Arrives, and waits for the others.
     *
     * *Cancellation.* Before the barrier has tripped, as [onCancel] says; afterwards the arrival counts all the same.
     *
     * @return how many were still missing: the first one gets `parties - 1`, the last one 0. Nobody of the same
     *   generation gets the same number.
     * @throws BarrierBrokenException if the barrier is broken, before or meanwhile, or is [reset] meanwhile.
     */
    public suspend fun arrive(): Int {
        val now = arriveNow(givesUp = false)
        if (now != null) return settle(now)
        // A call at the end makes no frame, unless it leaves arguments to their defaults.
        return if (action == null) awaitValue(core, 1, null) else awaitOrLead()
    }

    /**
     * Arrives, and waits [timeout] at most for the others, in the clock of the caller's dispatcher. Zero or
     * negative means that all others must be here already. The time that the action takes counts for those who wait,
     * not for the last party.
     *
     * *Cancellation.* As [arrive]; and when the time is over, too, as [onCancel] says.
     *
     * @throws BarrierTimeoutException if the time is over before the barrier lets go.
     * @throws BarrierBrokenException as [arrive].
     */
    public suspend fun arrive(timeout: Duration): Int {
        val now = arriveNow(givesUp = timeout <= Duration.ZERO)
        return if (now != null) settle(now) else awaitOrLead(timeout)
    }

    private suspend fun awaitOrLead(): Int = settle(awaitValue(core))

    private suspend fun awaitOrLead(timeout: Duration): Int {
        val outcome = if (timeout <= Duration.ZERO) false else awaitValue<Any>(core, timeout)
        if (outcome == false) throw BarrierTimeoutException("not all arrived within $timeout: $this")
        return settle(outcome)
    }

    private suspend fun settle(outcome: Any): Int = if (outcome is Int) outcome else lead(outcome as WaiterBatch)

    /**
     * Arrives if that needs no waiting: answers the number, or what is to be [lead] before. Otherwise null, and nothing
     * has happened, unless the caller [givesUp] then and that breaks.
     */
    internal fun arriveNow(givesUp: Boolean): Any? {
        val now = core.arriveNow(givesUp)
        if (now is BarrierCore.Breakage) throw core.exception(now)
        return if (now == null || action != null) now else 0
    }

    /** The last party's part. Cancelled meanwhile, it does not let the others go, even if the action did not notice. */
    internal suspend fun lead(generation: WaiterBatch): Int {
        // A reset or an abort may have come between the grant and this.
        core.whyNotLead(generation)?.let { throw core.exception(it) }
        val job = coroutineContext[Job]?.takeIf { it.isActive }
        try {
            action!!()
            job?.ensureActive()
        } catch (e: Throwable) {
            core.failAction(generation, e)
            throw e
        }
        core.endAction(generation)?.let { throw core.exception(it) }
        return 0
    }

    /**
     * Breaks it, for a party that knows that it will not come: those who wait get [BarrierBrokenException] with
     * [cause], as does the last party when its action ends that is running now. A barrier that is broken already keeps
     * its cause.
     */
    public fun abort(cause: Throwable? = null) {
        core.abort(cause)
    }

    /**
     * Makes it whole at once, broken or not. Those who wait get [BarrierBrokenException]; so does the last party, when
     * its action ends that is running now. That action runs on, and the next one does not wait for it.
     */
    public fun reset() {
        core.reset()
    }

    private fun label() = if (name == null) "Barrier" else "Barrier '$name'"

    override fun toString(): String = "${label()} (parties = $parties, ${core.describe()})"
}
