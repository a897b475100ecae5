package baton.scheduler.schedule

import baton.resilience.Backoff
import baton.scheduler.ScheduleConfig
import baton.scheduler.ScheduleOwnedException
import baton.scheduler.ScheduleStore
import baton.scheduler.schedule.StoreOutage.Call
import baton.sync.Latch
import baton.sync.Mutex
import baton.sync.withLock
import baton.waiting.threads.LoopKeeper
import java.util.concurrent.atomic.AtomicLong
import kotlin.time.Duration
import kotlin.time.Duration.Companion.milliseconds
import kotlin.time.Duration.Companion.minutes
import kotlin.time.Duration.Companion.seconds
import kotlinx.coroutines.CoroutineStart
import kotlinx.coroutines.Job
import kotlinx.coroutines.async
import kotlinx.coroutines.cancel
import kotlinx.coroutines.coroutineScope
import kotlinx.coroutines.currentCoroutineContext
import kotlinx.coroutines.delay
import kotlinx.coroutines.ensureActive
import kotlinx.coroutines.supervisorScope

/**
 * The ways between the store and the entries: rows are loaded at the start, edits of others arrive as a flow, a resync
 * reads newer rows, and changes are written behind.
 *
 * Each way has a coroutine of its own, so that a slow store does not delay the loop. One flush or resync at a time, so
 * that a batch never overtakes an older one, and no edit of others arrives while its entry is written.
 */
internal class StoreSync<K : Any>(
    private val config: ScheduleConfig,
    private val store: ScheduleStore<K>,
    private val core: ScheduleCore<K>,
    private val rows: StoreRows<K>,
    private val outage: StoreOutage,
    /** The schedule, to other owners of its store. */
    private val label: String,
) {
    private val flushing = Mutex()
    private val loading = Mutex()
    private val owning = Mutex()
    private val isLoaded = Latch(1)

    /** Completed at the end. */
    private val isEnding = Job()
    private val renewEvery = config.flushEvery.coerceIn(SHORTEST_RENEWAL, LONGEST_RENEWAL)
    private var isOwned = false
    private val readCount = AtomicLong()
    private val writeCount = AtomicLong()
    private val failureCount = AtomicLong()

    /** Whether the owner is to give signs of life; known after [load]. */
    var needsRenewal = false
        private set

    /** Whether the store could not be read at the start. It must be left as it is. */
    @Volatile
    var hasLoadFailed = false
        private set

    val reads: Long
        get() = readCount.get()

    val writes: Long
        get() = writeCount.get()

    val flushFailures: Long
        get() = failureCount.get()

    /** Nothing is read or written before this schedule owns the store. */
    private suspend fun own() {
        owning.withLock {
            if (!isOwned) needsRenewal = store.own(label, renewEvery)
            isOwned = true
        }
    }

    /**
     * Gives a sign of life; throws if another owner has taken over. They come at the same pace after failures: with
     * pauses that grow, the row would be stale before the store works again, and another owner let in.
     */
    suspend fun renewLater() {
        delay(renewEvery)
        try {
            store.renew()
            outage.worked(Call.RENEW)
        } catch (e: Throwable) {
            outage.failed(Call.RENEW, unlessCancelled(e))
            if (e is ScheduleOwnedException) throw e
        }
    }

    /** Loads all rows. Without them the schedule must not run, so a failure ends it. */
    suspend fun load() {
        loading.withLock {
            val all =
                try {
                    own()
                    store.load(0).also { takePause(store.isPaused()) }
                } catch (e: Throwable) {
                    // A load that was cancelled, by the end of the schedule, has not failed: the edits are written.
                    val failure = unlessCancelled(e)
                    hasLoadFailed = true
                    outage.failed(Call.LOAD, failure)
                    throw failure
                }
            readCount.incrementAndGet()
            rows.mergeFirst(all)
        }
        isLoaded.countDown()
    }

    /** No caller waits any more for rows to be loaded, and no resync of a caller holds up the last flush. */
    fun end() {
        isLoaded.countDown()
        isEnding.complete()
    }

    suspend fun resync() {
        isLoaded.await()
        core.checkOpen()
        loading.withLock {
            // A late call would open the store again after it was closed.
            core.checkOpen()
            // A row that is written meanwhile would be newer here than the edit that its store has kept.
            flushing.withLock {
                try {
                    val newer = untilTheEnd { store.load(rows.resyncFrom).also { takePause(store.isPaused()) } }
                    readCount.incrementAndGet()
                    rows.mergeResync(newer)
                } catch (e: Throwable) {
                    val failure = unlessCancelled(e)
                    core.checkOpen()
                    outage.failed(Call.LOAD, failure)
                    throw failure
                }
            }
        }
        outage.worked(Call.LOAD)
    }

    /**
     * The store knows whether the schedule is paused as a whole. A pause or its end that was set here and is not
     * written wins.
     */
    private fun takePause(isPaused: Boolean) =
        core.table.step {
            if (!core.table.isPauseDirty && core.table.isPaused != isPaused) core.table.setPaused(isPaused)
        }

    private suspend fun writePause() {
        val table = core.table
        val isPaused = table.step { if (table.isPauseDirty) table.isPaused else return }
        own()
        store.setPaused(isPaused)
        table.step { if (table.isPaused == isPaused) table.isPauseDirty = false }
    }

    private suspend fun <T> untilTheEnd(call: suspend () -> T): T = coroutineScope {
        val atTheEnd = isEnding.invokeOnCompletion { cancel() }
        try {
            call()
        } finally {
            atTheEnd.dispose()
        }
    }

    suspend fun resyncLater() {
        delay(config.resyncEvery)
        retrying(config.resyncEvery) { resync() }
    }

    /** Collects from before the first load, so that no edit is between the two; an edit waits until that is done. */
    suspend fun editsLoop() {
        var failures = 0
        val collect: suspend () -> Unit = {
            store.edits().collect { edits ->
                isLoaded.await()
                rows.mergeEdits(edits)
                outage.editsWorked()
                failures = 0
            }
        }
        while (true) {
            try {
                if (failures == 0) collect() else alongsideResync(collect)
                return
            } catch (e: Throwable) {
                outage.editsFailed(unlessCancelled(e))
                delay(backoff(++failures, EDITS_BACKOFF))
            }
        }
    }

    /**
     * Begins [collect], and then resyncs, so that no edit is between the two. The resync finds the edits while the flow
     * still fails. In that case a resync that fails is not repeated: the flow may work again sooner, and is tried next.
     */
    private suspend fun alongsideResync(collect: suspend () -> Unit) = supervisorScope {
        val collection = async(start = CoroutineStart.UNDISPATCHED) { collect() }
        retrying(EDITS_BACKOFF) {
            try {
                resync()
            } catch (e: Throwable) {
                if (!collection.isCancelled) throw e
            }
        }
        collection.await()
    }

    /** Writes all changes, those included that come before another flush has ended. No effect if there are none. */
    suspend fun flush() {
        flushing.withLock {
            var batch: StoreBatch<K>? = null
            try {
                writePause()
                batch = rows.take()
                if (batch.rows.isEmpty()) return@withLock
                own()
                write(batch, 0, batch.rows.size)
            } catch (e: Throwable) {
                batch?.failed()
                throw unlessCancelled(e).also {
                    failureCount.incrementAndGet()
                    outage.failed(Call.APPLY, it)
                }
            }
        }
        outage.worked(Call.APPLY)
    }

    /** Writes the rows from [from] until [until]. If the store refuses them, it gets them without the one to blame. */
    private suspend fun write(batch: StoreBatch<K>, from: Int, until: Int) {
        val refusal =
            try {
                batch.written(until, store.apply(batch.rows.subList(from, until)))
                writeCount.incrementAndGet()
                return
            } catch (e: IllegalArgumentException) {
                e
            }
        if (until - from == 1) {
            core.report(batch.refused(), refusal)
            return
        }
        val middle = from + (until - from) / 2
        write(batch, from, middle)
        write(batch, middle, until)
    }

    suspend fun flushLater() {
        core.table.changes.receive()
        try {
            delay(config.flushEvery)
            retrying(config.flushEvery) { flush() }
        } catch (e: Throwable) {
            // A store may have cancelled this coroutine: the next one finds the change.
            core.table.changes.trySend(Unit)
            throw e
        }
    }

    /** Repeats [call] until it works, or the store is another's. [call] itself reports its failures. */
    suspend fun retrying(base: Duration, call: suspend () -> Unit) {
        var failures = 0
        while (true) {
            try {
                return call()
            } catch (e: ScheduleOwnedException) {
                throw e
            } catch (e: Throwable) {
                unlessCancelled(e)
                delay(backoff(++failures, base))
            }
        }
    }

    /** Grows to a minute, or is [base] if that is longer. */
    private fun backoff(failures: Int, base: Duration): Duration =
        Backoff.exponential(base).delay(failures).coerceAtMost(maxOf(base, LONGEST_BACKOFF))

    /** The failure of the store; throws if it is the cancellation of the present coroutine. */
    private suspend fun unlessCancelled(e: Throwable): Throwable {
        currentCoroutineContext().ensureActive()
        return LoopKeeper.failureOf(e, "the store of $label")
    }

    companion object {
        private val EDITS_BACKOFF = 1.seconds
        private val LONGEST_BACKOFF = 1.minutes
        private val SHORTEST_RENEWAL = 1.seconds
        private val LONGEST_RENEWAL = 1.minutes

        /** At the end there is little time. */
        val LAST_BACKOFF = 100.milliseconds
    }
}
