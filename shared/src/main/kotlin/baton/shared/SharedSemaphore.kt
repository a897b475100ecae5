package baton.shared

import baton.PermitTimeoutException
import baton.shared.core.SharedSemaphoreCore
import baton.shared.waiting.orNullAfter
import baton.waiting.Parking
import baton.waiting.flight.FlightEvents
import java.time.Duration as JavaDuration
import kotlin.contracts.ExperimentalContracts
import kotlin.contracts.InvocationKind
import kotlin.contracts.contract
import kotlin.time.Duration
import kotlin.time.toKotlinDuration

/**
 * A counting semaphore between processes: it bounds how much work runs at the same time in all processes that share the
 * [SharedRegion]. The permits of a process that dies come back.
 *
 * Use it for a resource of the machine, such as an uplink or a GPU. Within one process,
 * [Semaphore][baton.sync.Semaphore] is simpler.
 *
 * ```
 * val uplink = region.semaphore("uplink", permits = 10)
 * uplink.withPermit { upload(file) }
 * ```
 *
 * *Waiting.* [acquire] suspends until the permits are free; [tryAcquire] never waits, or for a limited time;
 * [acquireBlocking] blocks the thread. A caller takes several permits in one step: while it waits it holds none. How a
 * process learns of the releases of another one: see [SharedRegion.waiting].
 *
 * *Order.* First come, first served within the process, for coroutines and threads alike: a large request at the head
 * holds up smaller ones behind it. Between processes there is no order, so smaller requests of other processes may
 * overtake a large one for ever.
 *
 * *Death.* When the process of a holder ends in any way, or closes its region, its permits come back: after a close at
 * once, after a death when a caller waits or tries, usually within 100 ms, which is a goal and no promise. The next
 * holder is not told. A paused process keeps its permits.
 *
 * *Cancellation.* Prompt, as of [Semaphore][baton.sync.Semaphore]: a caller that throws holds nothing. A call that does
 * not have to wait does not check for cancellation.
 *
 * *Memory.* Actions before a [SharedPermit.close] happen before the actions that follow a later acquire, in any
 * process. A failed [tryAcquire] publishes and sees nothing.
 *
 * *Misuse.* A request for fewer than 1 permit, or for more than there are, throws [IllegalArgumentException] at once.
 * After [SharedRegion.close] all calls throw [SharedRegionException].
 *
 * All members may be called from any thread.
 */
public class SharedSemaphore internal constructor(@get:JvmSynthetic internal val core: SharedSemaphoreCore) {
    /** Its name in the region. */
    public val name: String
        get() = core.name

    /** The number of permits, held or not. */
    public val permits: Int
        get() = core.permits

    /**
     * How many permits are not held. Those of a dead process count as held until a caller waits for them.
     *
     * @throws SharedRegionException if the region has ended.
     */
    public val availablePermits: Int
        get() = core.availableNow()

    /**
     * The processes that hold permits, by their ids, and how many each holds. The ids are those in the pid namespace of
     * each process. A dead process is listed until a caller that waits has taken its permits back. It reads one process
     * after the other, so the sum need not be that of one moment: for reports, not for decisions.
     *
     * @throws SharedRegionException if the region has ended.
     */
    public fun holders(): Map<Long, Int> = core.holders()

    /**
     * Takes [permits], waiting for them if necessary.
     *
     * *Cancellation.* Throws and holds nothing.
     *
     * @throws IllegalArgumentException if [permits] is below 1 or above [SharedSemaphore.permits].
     * @throws SharedRegionException if the region has ended, or ends while the caller waits.
     */
    public suspend fun acquire(permits: Int = 1): SharedPermit = core.acquire(permits)

    /**
     * Takes [permits] if that needs no waiting; null otherwise. Does not overtake callers of this process that wait. It
     * may take the permits of a dead process, and finds a death within 25 ms of repeated calls.
     *
     * @throws IllegalArgumentException if [permits] is below 1 or above [SharedSemaphore.permits].
     * @throws SharedRegionException if the region has ended.
     */
    @JvmOverloads public fun tryAcquire(permits: Int = 1): SharedPermit? = core.tryAcquire(permits)

    /**
     * Takes [permits], waiting [timeout] at most, in the clock of the caller's dispatcher. When it returns null the
     * caller holds nothing. With zero or less it does not wait.
     *
     * *Cancellation.* As [acquire].
     *
     * @throws IllegalArgumentException if [permits] is below 1 or above [SharedSemaphore.permits].
     * @throws SharedRegionException if the region has ended, or ends while the caller waits.
     */
    public suspend fun tryAcquire(permits: Int = 1, timeout: Duration): SharedPermit? {
        val atOnce = core.tryAcquire(permits)
        if (atOnce != null || timeout <= Duration.ZERO) return atOnce
        return orNullAfter(timeout) { core.acquire(permits) }
    }

    /** As [acquire], or throws [PermitTimeoutException]. Inlined bodies call it: it stays in their bytecode. */
    @PublishedApi
    @JvmSynthetic
    internal suspend fun acquireWithin(timeout: Duration): SharedPermit =
        tryAcquire(1, timeout) ?: throw FlightEvents.late("no permit within $timeout from ", this)

    /**
     * Takes [permits], blocking the thread while it waits.
     *
     * @throws IllegalArgumentException if [permits] is below 1 or above [SharedSemaphore.permits].
     * @throws InterruptedException if the thread is interrupted before it holds the permits; it holds nothing then.
     * @throws SharedRegionException if the region has ended, or ends while the caller waits.
     */
    @JvmOverloads
    @Throws(InterruptedException::class)
    public fun acquireBlocking(permits: Int = 1): SharedPermit =
        checkNotNull(core.acquireBlocking(permits, Parking.FOREVER))

    /**
     * As [acquireBlocking], but waits [timeout] at most, and returns null if the permits were not free in time. With
     * zero or less it does not wait.
     *
     * @throws IllegalArgumentException if [permits] is below 1 or above [SharedSemaphore.permits].
     * @throws InterruptedException if the thread is interrupted before it holds the permits; it holds nothing then.
     * @throws SharedRegionException if the region has ended, or ends while the caller waits.
     */
    @Throws(InterruptedException::class)
    public fun acquireBlocking(permits: Int, timeout: JavaDuration): SharedPermit? =
        core.acquireBlocking(permits, timeout.toKotlinDuration().inWholeNanoseconds)

    override fun toString(): String = core.describe()
}

/**
 * Runs [block] while holding one permit, and returns the permit however [block] ends. Throws as
 * [SharedSemaphore.acquire].
 */
@OptIn(ExperimentalContracts::class)
public suspend inline fun <T> SharedSemaphore.withPermit(block: () -> T): T {
    contract { callsInPlace(block, InvocationKind.EXACTLY_ONCE) }
    return acquire().use { block() }
}

/**
 * As [withPermit] without a timeout, but waits [timeout] at most for the permit, as [SharedSemaphore.tryAcquire] does.
 * The [block] may take as long as it takes.
 *
 * @throws PermitTimeoutException if the permit was not free in time; [block] has not run.
 */
@OptIn(ExperimentalContracts::class)
public suspend inline fun <T> SharedSemaphore.withPermit(timeout: Duration, block: () -> T): T {
    contract { callsInPlace(block, InvocationKind.EXACTLY_ONCE) }
    return acquireWithin(timeout).use { block() }
}
