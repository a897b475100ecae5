package baton.scheduler.schedule

import baton.scheduler.Due
import baton.scheduler.ScheduleConfig
import baton.scheduler.ScheduleOwnedException
import baton.scheduler.ScheduleStore
import baton.scheduler.TaskScheduler
import baton.scheduler.TaskSchedulerConfig
import baton.sync.Latch
import baton.waiting.clock.LabelledOwner
import baton.waiting.clock.onClock
import baton.waiting.threads.LoopKeeper
import java.util.concurrent.atomic.AtomicReference
import kotlin.coroutines.CoroutineContext
import kotlin.time.Duration.Companion.milliseconds
import kotlin.time.Duration.Companion.seconds
import kotlinx.coroutines.CancellationException
import kotlinx.coroutines.CoroutineScope
import kotlinx.coroutines.CoroutineStart
import kotlinx.coroutines.Job
import kotlinx.coroutines.NonCancellable
import kotlinx.coroutines.SupervisorJob
import kotlinx.coroutines.cancel
import kotlinx.coroutines.cancelAndJoin
import kotlinx.coroutines.coroutineScope
import kotlinx.coroutines.currentCoroutineContext
import kotlinx.coroutines.job
import kotlinx.coroutines.launch
import kotlinx.coroutines.withContext
import kotlinx.coroutines.withTimeoutOrNull

/**
 * The life of a schedule: NEW, RUNNING while `run` runs, ENDED. The coroutines of the loop and of the store are
 * children of `run`; the actions are not, because its cancellation grants them the grace.
 */
internal class ScheduleLifecycle<K : Any>(
    private val config: ScheduleConfig,
    private val store: ScheduleStore<K>,
    private val core: ScheduleCore<K>,
    private val sync: StoreSync<K>,
    /** The schedule in messages. */
    private val label: String,
    /** Reports what stops the loops. */
    private val report: (Throwable) -> Unit,
) {
    private enum class State {
        NEW,
        RUNNING,
        ENDED,
    }

    private val state = AtomicReference(State.NEW)
    private val stop = Latch(1)
    private val ended = Latch(1)

    /**
     * The first reason to end: the exception that `run` throws, or [SHUT_DOWN], also if it is cancelled. Set before
     * [stop] is opened.
     */
    private val whyStopped = AtomicReference<Throwable?>()

    private val isEnding
        get() = whyStopped.get() != null

    /** Of the coroutines of [run]. */
    @Volatile private var keeper: LoopKeeper? = null

    /** Hands over the runs; null before the schedule runs. */
    @Volatile private var loop: FireLoop<K>? = null

    /** Runs the actions; null before the schedule runs. */
    @Volatile
    var tasks: TaskScheduler? = null
        private set

    fun begin(): Boolean = state.compareAndSet(State.NEW, State.RUNNING)

    /** Returns after [shutdown], or throws. */
    suspend fun run(fires: FireCore<K>, maxConcurrency: Int, name: String?, action: suspend (Due<K>) -> Unit) {
        val context = currentCoroutineContext()
        core.clock.bind(context, LabelledOwner(label))
        val keeper = LoopKeeper(context, label, report) { end(it) }
        this.keeper = keeper
        if (isEnding) keeper.isEnding = true
        val scope = CoroutineScope(context.minusKey(Job) + keeper.usersDispatcher + SupervisorJob())
        val tasks = TaskScheduler(scope, maxConcurrency, name, TaskSchedulerConfig(clock = config.clock))
        this.tasks = tasks
        val times = LoopTimes(config, core.table, core.clock)
        val loop = FireLoop(config, core, fires, times, tasks, scope.coroutineContext.job, ::isEnding, label, action)
        this.loop = loop
        coroutineScope {
            launch(keeper.dispatcher + onClock(context + keeper.dispatcher), CoroutineStart.UNDISPATCHED) {
                try {
                    coroutineScope {
                        val work = launch(start = CoroutineStart.UNDISPATCHED) { work(keeper, loop) }
                        // A store may have cancelled the coroutine that called it.
                        work.invokeOnCompletion { if (it != null) end(LoopKeeper.failureOf(it, "the store of $label")) }
                        stop.await()
                        work.cancelAndJoin()
                    }
                } catch (e: Throwable) {
                    if (e !is CancellationException) end(e)
                    throw e
                } finally {
                    end(SHUT_DOWN)
                    withContext(NonCancellable) { end(tasks, scope) }
                }
            }
        }
        whyStopped.get()?.let { if (it !== SHUT_DOWN) throw it }
    }

    private fun onClock(context: CoroutineContext) = context.onClock(config.clock)

    /** The schedule was paused as a whole, or resumed. */
    fun applyPause() {
        loop?.applyPause()
    }

    /** Ends [firing], which was interrupted. */
    fun cancel(firing: Firing<K>) {
        loop?.cancel(firing)
    }

    /** The executor may reject what waits for [stop], too. */
    private fun end(why: Throwable) {
        if (whyStopped.compareAndSet(null, why) && why !== SHUT_DOWN) core.endBy(why)
        keeper?.isEnding = true
        stop.countDown()
    }

    private suspend fun work(keeper: LoopKeeper, loop: FireLoop<K>): Unit = coroutineScope {
        suspend fun repeat(step: suspend () -> Unit): Nothing =
            keeper.repeat(isFinal = { it is ScheduleOwnedException }, step = step)
        launch(start = CoroutineStart.UNDISPATCHED) { sync.editsLoop() }
        sync.load()
        if (sync.needsRenewal) launch { repeat { sync.renewLater() } }
        launch { repeat { sync.flushLater() } }
        launch { repeat { sync.resyncLater() } }
        repeat { loop.fireAndSleep() }
    }

    private suspend fun end(tasks: TaskScheduler, scope: CoroutineScope) {
        loop?.end()
        try {
            tasks.close()
            withTimeoutOrNull(config.grace) { tasks.drain() }
        } finally {
            scope.cancel()
            try {
                finish { scope.coroutineContext.job.join() }
            } finally {
                state.set(State.ENDED)
                ended.countDown()
            }
        }
    }

    /** From here on no edit has an effect, so every change is written. */
    private suspend fun finish(join: suspend () -> Unit) {
        core.table.step { core.table.hasEnded = true }
        sync.end()
        try {
            // With no grace at all the store still gets the chance to write without waiting.
            withTimeoutOrNull(config.grace.coerceAtLeast(1.milliseconds)) {
                flush()
                join()
                // The end of a run may have changed its entry.
                flush()
            }
        } finally {
            close()
        }
    }

    /** A store that takes longer is left to itself. */
    private suspend fun close() {
        val closing =
            CoroutineScope(currentCoroutineContext().minusKey(Job)).launch {
                try {
                    store.close()
                } catch (e: Throwable) {
                    core.report(store, e)
                }
            }
        withTimeoutOrNull(LONGEST_CLOSE) { closing.join() }
    }

    private suspend fun flush() {
        if (sync.hasLoadFailed) return
        try {
            sync.retrying(StoreSync.LAST_BACKOFF) { sync.flush() }
        } catch (_: ScheduleOwnedException) {
            // Rows that are left to be written are reported, and are the other's now.
        }
    }

    suspend fun shutdown() {
        if (state.compareAndSet(State.NEW, State.ENDED)) {
            val keeper = LoopKeeper(currentCoroutineContext(), label, report)
            keeper.isEnding = true
            val own = currentCoroutineContext() + keeper.dispatcher
            withContext(NonCancellable + keeper.dispatcher + onClock(own)) {
                try {
                    finish {}
                } finally {
                    // Here, because a cancelled caller throws when it returns to its own dispatcher.
                    ended.countDown()
                }
            }
        }
        end(SHUT_DOWN)
        ended.await()
    }

    private companion object {
        val LONGEST_CLOSE = 1.seconds
        val SHUT_DOWN = Throwable("shutdown", null)
    }
}
