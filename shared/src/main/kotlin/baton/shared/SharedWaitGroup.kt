package baton.shared

import baton.shared.core.SharedWaitGroupCore
import baton.waiting.Parking
import java.time.Duration as JavaDuration
import kotlin.time.Duration
import kotlin.time.toKotlinDuration
import kotlinx.coroutines.withTimeoutOrNull

/**
 * Counts pending work of several processes, and lets callers in all of them wait until none is pending. Call [add]
 * before a piece of work starts, and [done] when it has ended.
 *
 * Use it for work that other processes do. Within one process, [WaitGroup][baton.sync.WaitGroup] is simpler.
 *
 * ```
 * val jobs = region.waitGroup("jobs")
 * jobs.add(files.size)
 * files.forEach { file -> handToAWorker(file) } // The worker calls jobs.done().
 * jobs.await()
 * ```
 *
 * *Waiting.* [await] suspends until the count is zero, or for a limited time. [add] and [done] never wait. How a
 * process learns of the changes of another one: see [SharedRegion.waiting]. A zero that an [add] ends at once may go
 * unnoticed: the caller then waits for the next one. So call [add] before any caller can await the work.
 *
 * *Processes.* Work may be added by one process and done by another. A [done] counts for the work that its own process
 * has added. If that is all done, it counts for the work of another process that has added some, the one that opened
 * its region in the lowest slot.
 *
 * *Death.* When a process ends in any way, or closes its region, the work that counts for it is taken off: after a
 * close at once, after a death when a caller waits, usually within 100 ms, which is a goal and no promise. Every caller
 * that waits at that time then throws [AbandonedException]; if no caller waits, the next [await] throws it, and the one
 * after returns. So a process that adds work must live until the work is done. A [done] for work that was taken off is
 * one too many. A process that dies while it does the work of others leaves it undone: only those that added it can
 * notice that.
 *
 * *Order.* None: all waiters go on when they see the zero.
 *
 * *Cancellation.* Prompt: a caller that is cancelled while it waits throws, and does not change the count. A call that
 * does not have to wait does not check for cancellation.
 *
 * *Memory.* Actions before a [done], in any process, happen before the actions that follow an [await] that returns
 * because of the zero to which that [done] contributed.
 *
 * *Misuse.* [done] at zero, and an [add] beyond 1,048,575, throw [IllegalStateException] and change nothing. After
 * [SharedRegion.close] all calls throw [SharedRegionException].
 *
 * All members may be called from any thread.
 */
public class SharedWaitGroup internal constructor(@get:JvmSynthetic internal val core: SharedWaitGroupCore) {
    /** Its name in the region. */
    public val name: String
        get() = core.name

    /**
     * The number of added pieces of work that are not done, those of a dead process included until a caller waits.
     *
     * @throws SharedRegionException if the region has ended.
     */
    public val count: Int
        get() = core.countNow()

    /**
     * Adds [n] to the count. Never suspends.
     *
     * @throws IllegalArgumentException if [n] is below 1.
     * @throws IllegalStateException if the count would be above 1,048,575; nothing is added.
     * @throws SharedRegionException if the region has ended.
     */
    @JvmOverloads
    public fun add(n: Int = 1) {
        core.add(n)
    }

    /**
     * Decrements the count. Never suspends.
     *
     * @throws IllegalStateException if the count is zero.
     * @throws SharedRegionException if the region has ended.
     */
    public fun done() {
        core.done()
    }

    /**
     * Waits until the count is zero; returns at once if it is.
     *
     * *Cancellation.* Throws; there is nothing to return.
     *
     * @throws AbandonedException if a process died before its work was done.
     * @throws SharedRegionException if the region has ended, or ends while the caller waits.
     */
    public suspend fun await() {
        core.await()
    }

    /**
     * As [await], but waits [timeout] at most, in the clock of the caller's dispatcher. Returns whether the count was
     * zero. With zero or less it does not wait.
     *
     * *Cancellation.* As [await].
     *
     * @throws AbandonedException if a process died before its work was done.
     * @throws SharedRegionException if the region has ended, or ends while the caller waits.
     */
    public suspend fun await(timeout: Duration): Boolean {
        if (timeout <= Duration.ZERO) return core.isZeroNow()
        return withTimeoutOrNull(timeout) { core.await() } != null
    }

    /**
     * As [await], but blocks the thread while it waits.
     *
     * @throws AbandonedException if a process died before its work was done.
     * @throws InterruptedException if the thread is interrupted.
     * @throws SharedRegionException if the region has ended, or ends while the caller waits.
     */
    @Throws(InterruptedException::class)
    public fun awaitBlocking() {
        core.awaitBlocking(Parking.FOREVER)
    }

    /**
     * As [awaitBlocking], but waits [timeout] at most. Returns whether the count was zero. With zero or less it does
     * not wait.
     *
     * @throws AbandonedException if a process died before its work was done.
     * @throws InterruptedException if the thread is interrupted.
     * @throws SharedRegionException if the region has ended, or ends while the caller waits.
     */
    @Throws(InterruptedException::class)
    public fun awaitBlocking(timeout: JavaDuration): Boolean =
        core.awaitBlocking(timeout.toKotlinDuration().inWholeNanoseconds)

    override fun toString(): String = core.describe()
}
