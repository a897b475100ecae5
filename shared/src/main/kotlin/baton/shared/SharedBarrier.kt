package baton.shared

import baton.shared.core.SharedBarrierCore
import baton.sync.BarrierBrokenException
import baton.sync.BarrierTimeoutException
import java.time.Duration as JavaDuration
import kotlin.time.Duration
import kotlin.time.toKotlinDuration

/**
 * A cyclic barrier between processes: a fixed number of parties wait for each other, and none goes on before all have
 * arrived. The barrier is then ready for the next phase at once. It breaks for all when a party gives up or dies.
 *
 * Use it for work in phases, or to start several processes together. Within one process, [Barrier][baton.sync.Barrier]
 * is simpler.
 *
 * ```
 * val start = region.barrier("start", parties = 4)
 * warmUp()
 * start.arrive()
 * measure()
 * ```
 *
 * *Waiting.* [arrive] suspends until the last party has arrived. A process may have several parties: each call of
 * [arrive] is one. How a process learns of the arrivals of another one: see [SharedRegion.waiting].
 *
 * *Order.* None: all parties go on when they see that the last one has arrived.
 *
 * *Breaking.* A party that is cancelled or timed out while it waits breaks the barrier: all that wait throw
 * [BarrierBrokenException], and later arrivals throw it at once, until a [reset]. A barrier that has tripped does not
 * break for the parties that it has released; but a released party that looks only after 12 or more later phases, one
 * of them ended by a [reset], cannot tell that its own phase had tripped, and throws [BarrierBrokenException].
 *
 * *Death.* When the process of a party that has arrived ends in any way, or closes its region, before the barrier
 * trips, the barrier breaks: after a close at once, after a death usually within 100 ms, which is a goal and no
 * promise. If the last party arrives before the death is noticed, the barrier trips. A process that dies before it
 * arrives is missing without a notice: give [arrive] a timeout. A paused process remains a party.
 *
 * *Cancellation.* Prompt. A call that does not have to wait does not check for cancellation.
 *
 * *Memory.* Actions of a party before it arrives happen before the actions of any party of the same phase, in any
 * process, after its [arrive] has returned.
 *
 * *Misuse.* With more callers than parties, a caller that comes late waits in the next phase. After
 * [SharedRegion.close] all calls throw [SharedRegionException].
 *
 * All members may be called from any thread.
 */
public class SharedBarrier internal constructor(@get:JvmSynthetic internal val core: SharedBarrierCore) {
    /** Its name in the region. */
    public val name: String
        get() = core.name

    /** The number of parties that must arrive. */
    public val parties: Int
        get() = core.parties

    /**
     * Whether the barrier refuses arrivals, until [reset].
     *
     * @throws SharedRegionException if the region has ended.
     */
    public val isBroken: Boolean
        get() {
            core.checkOpen()
            return core.isBroken
        }

    /**
     * Arrives, and waits for the other parties.
     *
     * *Cancellation.* Throws; it breaks the barrier unless that has tripped.
     *
     * @return how many parties were still missing: the first one gets `parties - 1`, the last one 0. No two parties of
     *   one phase get the same number.
     * @throws BarrierBrokenException if the barrier is broken, before the call or while the caller waits, or is [reset]
     *   while the caller waits.
     * @throws SharedRegionException if the region has ended, or ends while the caller waits.
     */
    public suspend fun arrive(): Int = core.arrive(null)

    /**
     * Arrives, and waits [timeout] at most for the other parties, in the clock of the caller's dispatcher. With zero or
     * less all others must have arrived already. A timeout breaks the barrier.
     *
     * *Cancellation.* As [arrive].
     *
     * @return as [arrive].
     * @throws BarrierTimeoutException if the time is over before the barrier trips.
     * @throws BarrierBrokenException as [arrive].
     * @throws SharedRegionException if the region has ended, or ends while the caller waits.
     */
    public suspend fun arrive(timeout: Duration): Int = core.arrive(timeout)

    /**
     * Arrives, and blocks the thread while it waits for the other parties.
     *
     * @return as [arrive].
     * @throws InterruptedException if the thread is interrupted: before it arrives, or while it waits, which breaks the
     *   barrier unless that has tripped.
     * @throws BarrierBrokenException as [arrive].
     * @throws SharedRegionException if the region has ended, or ends while the caller waits.
     */
    @Throws(InterruptedException::class) public fun arriveBlocking(): Int = core.arriveBlocking(null)

    /**
     * As [arriveBlocking], but waits [timeout] at most. With zero or less all others must have arrived already. A
     * timeout breaks the barrier.
     *
     * @return as [arrive].
     * @throws BarrierTimeoutException if the time is over before the barrier trips.
     * @throws InterruptedException as [arriveBlocking] without a timeout.
     * @throws BarrierBrokenException as [arrive].
     * @throws SharedRegionException if the region has ended, or ends while the caller waits.
     */
    @Throws(InterruptedException::class)
    public fun arriveBlocking(timeout: JavaDuration): Int = core.arriveBlocking(timeout.toKotlinDuration())

    /**
     * Makes the barrier usable again at once, broken or not. Parties that wait throw [BarrierBrokenException].
     *
     * @throws SharedRegionException if the region has ended.
     */
    public fun reset() {
        core.reset()
    }

    override fun toString(): String = core.describe()
}
