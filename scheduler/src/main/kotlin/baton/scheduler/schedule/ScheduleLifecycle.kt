package baton.scheduler.schedule

import baton.scheduler.Due
import baton.scheduler.ScheduleConfig
import baton.scheduler.ScheduleOwnedException
import baton.scheduler.ScheduleStore
import baton.scheduler.TaskScheduler
import baton.sync.Latch
import java.util.concurrent.atomic.AtomicReference
import kotlin.time.Duration.Companion.milliseconds
import kotlin.time.Duration.Companion.seconds
import kotlinx.coroutines.CancellationException
import kotlinx.coroutines.CoroutineScope
import kotlinx.coroutines.CoroutineStart
import kotlinx.coroutines.Dispatchers
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
) {
    private enum class State {
        NEW,
        RUNNING,
        ENDED,
    }

    private val state = AtomicReference(State.NEW)
    private val stop = Latch(1)
    private val ended = Latch(1)

    /** Set before [stop] is opened by [shutdown]. */
    @Volatile private var isShutDown = false

    /** Runs the actions; null before the schedule runs. */
    @Volatile
    var tasks: TaskScheduler? = null
        private set

    fun begin(): Boolean = state.compareAndSet(State.NEW, State.RUNNING)

    /** Returns after [shutdown], or throws. */
    suspend fun run(fires: FireCore<K>, maxConcurrency: Int, name: String?, action: suspend (Due<K>) -> Unit) {
        val scope = CoroutineScope(currentCoroutineContext().minusKey(Job) + SupervisorJob())
        val tasks = TaskScheduler(scope, maxConcurrency, name)
        this.tasks = tasks
        val loop = FireLoop(core, fires, LoopTimes(config, core.table), tasks, scope.coroutineContext.job, action)
        try {
            coroutineScope {
                val work = launch(start = CoroutineStart.UNDISPATCHED) { work(loop) }
                // A dispatcher that was shut down cancels it.
                work.invokeOnCompletion { stop.countDown() }
                stop.await()
                work.cancelAndJoin()
            }
            if (!isShutDown) throw CancellationException("the dispatcher was shut down")
        } finally {
            loop.isEnding = true
            withContext(NonCancellable) { end(tasks, scope) }
        }
    }

    private suspend fun work(loop: FireLoop<K>): Unit = coroutineScope {
        launch(start = CoroutineStart.UNDISPATCHED) { sync.editsLoop() }
        sync.load()
        launch { sync.renewLoop() }
        launch { sync.flushLoop() }
        launch { sync.resyncLoop() }
        loop.run()
    }

    private suspend fun end(tasks: TaskScheduler, scope: CoroutineScope) {
        try {
            tasks.close()
            onLiveDispatcher { withTimeoutOrNull(config.grace) { tasks.drain() } }
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

    /**
     * A dispatcher that was shut down cancels whatever suspends on it, coroutines in [NonCancellable] included. So
     * [block] runs on Dispatchers.IO then.
     */
    private suspend fun onLiveDispatcher(block: suspend () -> Unit) {
        val probe = CoroutineScope(currentCoroutineContext().minusKey(Job)).launch {}
        // One that refuses has cancelled it by now.
        val context = if (probe.isCancelled) NonCancellable + Dispatchers.IO else NonCancellable
        withContext(context) { block() }
    }

    /** From here on no edit has an effect, so every change is written. */
    private suspend fun finish(join: suspend () -> Unit) {
        core.table.step { core.table.hasEnded = true }
        sync.end()
        try {
            onLiveDispatcher {
                // With no grace at all the store still gets the chance to write without waiting.
                withTimeoutOrNull(config.grace.coerceAtLeast(1.milliseconds)) {
                    flush()
                    join()
                    // The end of a run may have changed its entry.
                    flush()
                }
            }
        } finally {
            onLiveDispatcher { close() }
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
            withContext(NonCancellable) { finish {} }
            ended.countDown()
        }
        isShutDown = true
        stop.countDown()
        ended.await()
    }

    private companion object {
        val LONGEST_CLOSE = 1.seconds
    }
}
