package baton.scheduler

import baton.Boosting
import baton.Priority
import kotlinx.coroutines.CoroutineDispatcher

/**
 * A dispatcher with five levels of urgency, on the threads of another dispatcher: see [prioritized].
 *
 * ```
 * val prioritized = Dispatchers.Default.prioritized(parallelism = 2)
 * launch(prioritized + Priority.HIGH) { show(page) }
 * launch(prioritized.level(Priority.LOW)) { prefetch() }
 * ```
 *
 * *Levels.* A coroutine runs at the level of the [Priority] or [baton.PriorityController] in its context, which the
 * dispatcher reads at each dispatch. `withContext(Priority.LOW)` on the same dispatcher does not dispatch: the level
 * counts from the next suspension on (see [withPriority]). [level] returns a view for APIs that take a dispatcher and
 * no context.
 *
 * *Order.* The most urgent level first, as the [PriorityPolicy] bounds it; inside a level first come, first served. A
 * worker selects the next block when it is free, not when the block is dispatched. Running blocks are not interrupted:
 * a coroutine gives way where it suspends, or by [yieldIfHigherWaiting]. `yield()` enqueues the coroutine at the tail
 * of its own level.
 *
 * *Bound.* At most [parallelism] blocks run at a time. A suspended coroutine occupies no worker.
 *
 * *Boosting.* While a coroutine holds a `Mutex`, a `ReadWriteLock` or the only permit of a `Semaphore`, or runs a
 * [ScheduledTask], and a more urgent coroutine waits for it, the holder and all coroutines inside it run at the
 * waiter's level. The holder must be known, and known as a coroutine of this dispatcher. So a boost does not reach
 * - a lock taken by a `tryLock()` that does not suspend, by a `lockRead()` without an owner, or by a Java future;
 * - a lock that the coroutine took before it entered this dispatcher by `withContext`;
 * - code that the holder runs inside `withContext` on another [PriorityDispatcher], where it keeps its level;
 * - the next holder in a chain: if the holder waits already for another lock or for a queued [ScheduledTask], the
 *   holder of that lock, or the task, keeps its level. (A lock or task for which the holder begins to wait while it is
 *   boosted is boosted, too.)
 *
 * In these cases the waiter waits for as long as the policy lets the holder's own level wait: with
 * [PriorityPolicy.Strict], without end.
 *
 * *Cancellation.* The dispatcher never drops a block. The block of a cancelled coroutine runs and sees the
 * cancellation.
 *
 * *Failures.* An exception that a plain Runnable throws goes to the thread's uncaught exception handler, and the worker
 * continues. If the underlying dispatcher refuses a worker, because it is full or was shut down, the worker's blocks
 * run on `Dispatchers.Default`, or where kotlinx sends them: over an `ExecutorService`, on `Dispatchers.IO`. At most
 * once a minute, a `RejectedExecutionException` that says so goes to the uncaught exception handler of the thread that
 * was refused. A pool that accepts work and then drops it, as it does on `shutdownNow` and with a `DiscardPolicy`,
 * permanently removes one of the [parallelism] workers. When it has dropped the last one, no block runs here any more,
 * and no error is reported. So let all blocks end before `shutdownNow`.
 *
 * *Time.* It has no clock: `delay` uses the timers of the underlying dispatcher. So `runTest` drives it in virtual
 * time.
 *
 * *Memory.* Actions before a dispatch happen-before the block.
 *
 * *Misuse.* A nested `runBlocking` on the same dispatcher occupies a worker. With `parallelism = 1` it waits for itself
 * for ever, as with `limitedParallelism(1)`.
 *
 * It owns no threads and need not be closed. All members may be called from any thread.
 */
public abstract class PriorityDispatcher internal constructor() : CoroutineDispatcher(), Boosting {
    /** The maximum number of blocks that run at a time. */
    public abstract val parallelism: Int

    /** Shown by [toString]; null if none was given. */
    public abstract val name: String?

    /** A snapshot of its counters. */
    public abstract val metrics: DispatcherMetrics

    /** Returns a view that dispatches all blocks at this level, whatever their context says. */
    public abstract fun level(priority: Priority): PriorityDispatcher

    /** Whether a block more urgent than [priority] is queued. The value may be out of date when this returns. */
    public abstract fun isHigherWaiting(priority: Priority): Boolean

    /**
     * Returns a view of which at most [parallelism] blocks run at a time, and which occupies at most as many of this
     * dispatcher's workers. Levels apply in the view and in this dispatcher: in both, an urgent block of the view waits
     * only for as much less urgent work as the policy owes to that.
     *
     * @param name shown by [toString]. Without one, a view that would not be narrower is this dispatcher itself.
     * @throws IllegalArgumentException if [parallelism] is below 1.
     */
    abstract override fun limitedParallelism(parallelism: Int, name: String?): PriorityDispatcher
}
