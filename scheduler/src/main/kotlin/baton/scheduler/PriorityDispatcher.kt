package baton.scheduler

import baton.Boosting
import baton.Priority
import kotlinx.coroutines.CoroutineDispatcher

/**
 * A dispatcher with five levels of urgency, over another one whose threads it uses: see [prioritized].
 *
 * ```
 * val prioritized = Dispatchers.Default.prioritized(parallelism = 2)
 * launch(prioritized + Priority.HIGH) { show(page) }
 * launch(prioritized.level(Priority.LOW)) { prefetch() }
 * ```
 *
 * *Levels.* A coroutine runs at the level of the [Priority] or [baton.PriorityController] in its context, looked at
 * anew whenever it is dispatched. `withContext(Priority.LOW)` on the same dispatcher does not dispatch: the level
 * counts from the next suspension on (see [withPriority]). [level] gives a view for those who take a dispatcher and no
 * context.
 *
 * *Order.* The most urgent level first, as the [PriorityPolicy] bounds it; inside a level first come, first served.
 * What runs next is decided when a worker is free, not when the block is dispatched. Nothing that runs is interrupted:
 * a coroutine gives way where it suspends, or by [yieldIfHigherWaiting]. `yield()` goes to the end of the own level.
 *
 * *Bound.* At most [parallelism] blocks run at a time. A coroutine that is suspended takes no place.
 *
 * *Boosting.* While a coroutine holds a `Mutex`, a `ReadWriteLock` or the only permit of a `Semaphore`, or works on a
 * [ScheduledTask], and a more urgent coroutine waits for that, the holder and all inside it run at the waiter's level.
 * The holder must be known, and known as a coroutine of this dispatcher. So a boost does not reach
 * - a lock taken by a `tryLock()` that does not suspend, by a `lockRead()` without an owner, or by a Java future;
 * - a lock that the coroutine took before it entered this dispatcher by `withContext`;
 * - what the holder runs inside `withContext` on another [PriorityDispatcher], where it keeps its level;
 * - the next in a chain: when the holder waits already for another lock or for a queued [ScheduledTask], the holder of
 *   that lock, or the task, keeps its level. (What the holder begins to wait for while it is boosted is boosted, too.)
 *
 * In these cases the waiter waits for as long as the policy lets the holder's own level wait: with
 * [PriorityPolicy.Strict], without end.
 *
 * *Cancellation.* Never drops a block, cancelled or not: the block runs and sees it.
 *
 * *Failures.* What a plain Runnable throws goes to the thread's uncaught exception handler, and the worker goes on.
 * When the dispatcher underneath refuses work because it was shut down, what is left runs on `Dispatchers.Default`,
 * or where kotlinx sends it: over an `ExecutorService`, on `Dispatchers.IO`. A pool that takes work and then drops it,
 * as it does on `shutdownNow` and with a `DiscardPolicy`, takes one of the [parallelism] places with it for good; when
 * the last is gone nothing runs here any more, and nothing says so. So let what runs here end before `shutdownNow`.
 *
 * *Time.* It has no clock: `delay` is that of the dispatcher underneath. So `runTest` drives it in virtual time.
 *
 * *Memory.* What happens before a dispatch happens before the block runs.
 *
 * *Misuse.* A nested `runBlocking` on the same dispatcher keeps a worker, and with `parallelism = 1` waits for itself
 * for ever, as with `limitedParallelism(1)`.
 *
 * It owns no threads and need not be closed. All members may be called from any thread.
 */
public abstract class PriorityDispatcher internal constructor() :
    CoroutineDispatcher(),
    Boosting {
    /** How many blocks run at a time, at most. */
    public abstract val parallelism: Int

    /** Shown by [toString]; null if none was given. */
    public abstract val name: String?

    /** A snapshot of what it does. */
    public abstract val metrics: DispatcherMetrics

    /** The same dispatcher, with this level for all that is dispatched here, whatever the context says. */
    public abstract fun level(priority: Priority): PriorityDispatcher

    /** Whether work waits that is more urgent than [priority]. May be out of date at once. */
    public abstract fun isHigherWaiting(priority: Priority): Boolean

    /**
     * A view of which at most [parallelism] blocks run at a time, and which takes no more of this dispatcher's places.
     * Levels mean in it what they mean here: the context goes with the block, and an urgent block of the view waits for
     * less urgent work neither in the view nor here, but for what the policy owes to that, in the view and here.
     *
     * @param name shown by [toString]. Without one, a view that would not be narrower is this dispatcher itself.
     * @throws IllegalArgumentException if [parallelism] is below 1.
     */
    abstract override fun limitedParallelism(parallelism: Int, name: String?): PriorityDispatcher
}
