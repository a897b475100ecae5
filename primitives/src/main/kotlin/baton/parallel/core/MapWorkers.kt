package baton.parallel.core

import baton.sync.Semaphore
import baton.sync.SemaphoreClosedException
import baton.sync.WaitOrder
import java.util.concurrent.atomic.AtomicInteger
import kotlinx.coroutines.CancellationException
import kotlinx.coroutines.CoroutineScope
import kotlinx.coroutines.Job
import kotlinx.coroutines.cancelChildren
import kotlinx.coroutines.coroutineScope
import kotlinx.coroutines.ensureActive
import kotlinx.coroutines.isActive
import kotlinx.coroutines.job
import kotlinx.coroutines.launch

/*
 * How it works
 *
 *   scope of the call
 *     ├ workers 1, 2, … limit   each: pull · transform · record, until there is nothing to pull
 *     ├ producer                collects the source, if that is a flow
 *     └ the caller itself       emits, if the result is a flow; else it only waits for the others
 *
 * (1) Worker n starts worker n + 1 when it has pulled its first element. So few elements start few workers, and elements
 *     that end at once on one thread need one. Where a dispatcher runs workers in place, StartQueue keeps them from
 *     nesting.
 * (2) One worker pulls at a time: the holder of `pulling`, which suspends the others and blocks no thread. It is unfair,
 *     because it does not matter which worker pulls: under a fair one, workers with little to do would suspend for
 *     every element.
 * (3) An element is pulled when there is a place for it. A place is a worker; where elements have weights, or wait to be
 *     emitted, it is also a permit of `places`. The puller takes one permit before it pulls, and the others that the
 *     element weighs while it still pulls. As no other element takes permits meanwhile, there is no deadlock. Without
 *     weights, a flow takes the places itself; an element in `pending` keeps its place then.
 * (4) A worker catches all exceptions of the source and of the transform, and the core decides. The scope itself fails
 *     only with an exception from elsewhere: of a dispatcher, or of the flow's collector.
 * (5) A transform can cancel the job of its own worker, and a dispatcher that has been shut down does so, too. Another
 *     worker with the same number then goes on. An element that such a worker has pulled and not started stays in
 *     `pending`, for the next puller, with the weight that it may have by then. If no worker is left, the call fails
 *     with the reason of the last one.
 * (6) A stop closes `places` and cancels the producer, so that a puller that waits for either ends. With `cancelRunning`
 *     it also cancels the running transforms.
 *
 * Guarded by `pulling`: the source, `pending` and `pendingWeight`. The two steps of a worker are inline, so that they
 * are one state machine, which is allocated once for a worker and not for each element.
 */
internal class MapWorkers<T>(
    private val core: MapCore,
    private val source: ElementSource,
    private val limit: Int,
    private val weight: ((T) -> Int)?,
    private val cancelRunning: Boolean,
    private val places: Semaphore?,
    private val transform: suspend (T) -> Any?,
) {
    private val pulling = Semaphore(1, order = WaitOrder.UNFAIR)
    private var pending: Any? = NONE

    /** The weight of [pending]; 0 if it has not been weighed. */
    private var pendingWeight = 0
    private val live = AtomicInteger()
    private lateinit var scope: CoroutineScope

    /** Whether an element was pulled and not started. Read it after [run]. */
    val hasPending: Boolean
        get() = pending !== NONE

    /** Maps all, while the caller runs [emit]. */
    suspend fun run(emit: suspend () -> Unit = {}) {
        try {
            coroutineScope {
                scope = this
                source.startIn(this)
                start(number = 1, mayStartNext = limit > 1, starts = null)
                emit()
            }
        } catch (e: Throwable) {
            source.lateFailure()?.let(core::suppress)
            core.suppressIn(e)
            throw e
        }
        source.lateFailure()?.let(core::suppress)
        core.failure()?.let { throw it }
    }

    /** @param starts the queue that has started the calling worker, if a worker calls. */
    private fun start(number: Int, mayStartNext: Boolean, starts: StartQueue<Worker>?) {
        live.incrementAndGet()
        val queue = if (starts?.isHere == true) starts else StartQueue(::launch)
        queue.start(Worker(number, mayStartNext, queue))
    }

    private fun launch(worker: Worker) {
        val job =
            try {
                scope.launch { worker.run(coroutineContext.job) }
            } catch (e: Throwable) {
                live.decrementAndGet()
                throw e
            }
        job.invokeOnCompletion(::workerEnded)
    }

    private fun workerEnded(cause: Throwable?) {
        if (live.decrementAndGet() > 0 || core.isOver || !scope.isActive) return
        if (core.abandon(cause ?: CancellationException("no worker is left"))) stop()
    }

    private fun stop() {
        places?.close()
        source.stop()
        if (cancelRunning) scope.coroutineContext.cancelChildren(CancellationException("another element has failed"))
    }

    private inner class Worker(
        private val number: Int,
        private var mayStartNext: Boolean,
        private val starts: StartQueue<Worker>,
    ) {
        private var index = 0
        private var taken = 0

        suspend fun run(job: Job) {
            try {
                while (job.isActive) {
                    val element = pull(job)
                    if (element === NONE) return
                    @Suppress("UNCHECKED_CAST") process(element as T, job)
                    if (!core.results.holdPlaces) freePlaces()
                }
            } catch (e: CancellationException) {
                if (job.isActive) throw e
            }
            if (core.isOpen && !isEnding()) start(number, mayStartNext, starts)
        }

        private suspend inline fun pull(job: Job): Any? {
            var isStarted = false
            pulling.acquire()
            try {
                taken = 0
                if (!core.isOpen) return NONE
                if (places != null && !source.takesPlaces && !takePlaces(places, 1)) return NONE
                try {
                    if (pending === NONE) pending = source.next()
                    if (pending === NONE) {
                        core.exhaust()
                        return NONE
                    }
                    if (weight != null && places != null && !takePlaces(places, weigh(weight) - 1)) return NONE
                    // The source may have blocked the thread: a cancelled worker starts nothing.
                    job.ensureActive()
                } catch (e: Throwable) {
                    if (e is CancellationException && !job.isActive) throw e
                    if (core.abandon(e)) stop()
                    return NONE
                }
                if (!core.start()) return NONE
                if (source.takesPlaces) taken = 1
                isStarted = true
                index = core.results.reserve()
                pendingWeight = 0
                return pending.also { pending = NONE }
            } finally {
                if (!isStarted) freePlaces()
                pulling.release()
            }
        }

        /** False after a stop. */
        private suspend fun takePlaces(places: Semaphore, count: Int): Boolean {
            if (count == 0) return true
            try {
                places.acquire(count)
            } catch (_: SemaphoreClosedException) {
                return false
            }
            taken += count
            return true
        }

        private fun weigh(weight: (T) -> Int): Int {
            if (pendingWeight > 0) return pendingWeight
            @Suppress("UNCHECKED_CAST") val weighed = weight(pending as T)
            require(weighed in 1..limit) { "weight = $weighed, must be within 1..$limit, the limit" }
            pendingWeight = weighed
            return weighed
        }

        private suspend inline fun process(element: T, job: Job) {
            val value =
                try {
                    if (mayStartNext) {
                        mayStartNext = false
                        start(number + 1, mayStartNext = number + 1 < limit, starts)
                    }
                    transform(element)
                } catch (e: Throwable) {
                    fail(e, job)
                    return
                }
            core.succeed(index, taken, value)
        }

        private fun fail(e: Throwable, job: Job) {
            if (e is CancellationException && !job.isActive && isEnding()) {
                core.drop()
                return
            }
            val hasStopped =
                if (e is CancellationException) core.cancel(index, taken, e) else core.fail(index, taken, e)
            if (hasStopped) stop()
        }

        private fun freePlaces() {
            if (taken > 0) places?.release(taken)
        }
    }

    /** Whether the workers are cancelled along with the call, or by the stop. */
    private fun isEnding() = !scope.isActive || (cancelRunning && core.isStopped)
}
