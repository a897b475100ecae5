package baton.parallel.core

import baton.sync.Semaphore
import baton.sync.SemaphoreClosedException
import baton.waiting.Symbol
import baton.waiting.threads.ResumeOnce
import kotlin.coroutines.Continuation
import kotlin.coroutines.intrinsics.COROUTINE_SUSPENDED
import kotlin.coroutines.intrinsics.suspendCoroutineUninterceptedOrReturn
import kotlin.coroutines.resumeWithException
import kotlinx.coroutines.CancellationException
import kotlinx.coroutines.CoroutineScope
import kotlinx.coroutines.Job
import kotlinx.coroutines.ensureActive
import kotlinx.coroutines.flow.Flow
import kotlinx.coroutines.job
import kotlinx.coroutines.launch

/** In place of an element: there is none. */
internal val NONE = Symbol("NONE")

/** The elements of a map. */
internal abstract class ElementSource {
    /** Whether an element has its place already when [next] returns it. */
    open val takesPlaces: Boolean
        get() = false

    /** Called before the first [next]. */
    open fun startIn(scope: CoroutineScope) {}

    /**
     * The next element, or [NONE] at the end. Called by one coroutine at a time, and not again after the end or a
     * failure. When it throws because the puller is cancelled, it has taken no element.
     */
    abstract suspend fun next(): Any?

    /** No element will be wanted any more. */
    open fun stop() {}

    /** A failure that [next] has not thrown. Called when all coroutines of the scope have ended. */
    open fun lateFailure(): Throwable? = null
}

internal class IteratorSource(private val iterator: Iterator<Any?>) : ElementSource() {
    override suspend fun next(): Any? = if (iterator.hasNext()) iterator.next() else NONE
}

/**
 * The elements of a flow, which is collected by a coroutine of its own, the producer.
 *
 * ```
 * producer: places.acquire() · hands over the element                     at its end: resumes a waiting puller
 * producer: hands over the element · taken.acquire()                      without places
 * ```
 *
 * An element goes to the puller that waits, or else into [elements], where the next puller finds it. With [places] the
 * producer takes a permit of them for each element, and goes on while there are some. Without, it suspends until the
 * element is taken. Either way the one element that has no place waits in an `emit`.
 *
 * A waiting puller is resumed by the producer alone, with an element or at the end, and not when it is cancelled: the
 * same cancellation or stop ends the producer. So an element that was handed over is never lost, and a wait allocates
 * only what resumes it once. An `emit` that is cancelled is the last one. kotlinx.coroutines' own flows refuse to emit
 * after that; for other ones it is refused here.
 */
internal class FlowSource(private val flow: Flow<Any?>, private val places: Semaphore? = null) : ElementSource() {
    private val taken = Semaphore(1, acquired = 1)
    private lateinit var producer: Job

    /** Guarded by its lock, as are [puller] and [hasEnded]. */
    private val elements = ArrayDeque<Any?>()

    /** The puller that waits. It waits only while there are no elements. */
    private var puller: Continuation<Any?>? = null
    private var hasEnded = false

    /** Whether an emission waits for a place. Confined to the producer. */
    private var isEmitting = false

    /** Set before the producer ends for it. */
    @Volatile private var isStopped = false

    /** How the flow has ended: [NONE], or its exception. */
    @Volatile private var end: Any? = null

    override val takesPlaces: Boolean
        get() = places != null

    override fun startIn(scope: CoroutineScope) {
        producer =
            scope.launch {
                val job = coroutineContext.job
                end =
                    try {
                        flow.collect { element -> if (!tryEmit(element, job)) awaitEmission(element) }
                        NONE
                    } catch (e: Throwable) {
                        Failed(e)
                    }
            }
        producer.invokeOnCompletion { cause ->
            if (end == null) end = Failed(cause ?: CancellationException("the source was not collected"))
            val waiting =
                synchronized(elements) {
                    hasEnded = true
                    puller.also { puller = null }
                }
            waiting?.let { resume(it, runCatching { NONE.also { throwFailure() } }) }
        }
    }

    private fun tryEmit(element: Any?, job: Job): Boolean {
        job.ensureActive()
        check(!isEmitting) { "the source emits although its last emission has not returned" }
        if (places != null && !orStopped { places.tryAcquire() }) return false
        add(element)
        return places != null
    }

    private suspend fun awaitEmission(element: Any?) {
        isEmitting = true
        orStopped { (places ?: taken).acquire() }
        isEmitting = false
        if (places != null) add(element)
    }

    private fun add(element: Any?) {
        val waiting =
            synchronized(elements) { puller.also { if (it == null) elements.addLast(element) else puller = null } }
                ?: return
        if (places == null) taken.release()
        resume(waiting, Result.success(element))
    }

    /** A puller whose dispatcher refuses it goes on in this thread, and fails. */
    private fun resume(waiting: Continuation<Any?>, result: Result<Any?>) {
        val once = ResumeOnce(waiting)
        once.dispatch(result, once::resumeWithException)
    }

    /** [stop] is about to be called, as only a stop closes the places. The producer may end before that. */
    private inline fun <R> orStopped(acquire: () -> R): R =
        try {
            acquire()
        } catch (_: SemaphoreClosedException) {
            isStopped = true
            throw unwanted()
        }

    override suspend fun next(): Any? = suspendCoroutineUninterceptedOrReturn { takeOrWait(it) }

    private fun takeOrWait(waiting: Continuation<Any?>): Any? {
        val element =
            synchronized(elements) {
                if (elements.isNotEmpty()) {
                    elements.removeFirst()
                } else if (hasEnded) {
                    NONE
                } else {
                    puller = waiting
                    return COROUTINE_SUSPENDED
                }
            }
        if (element === NONE) throwFailure() else if (places == null) taken.release()
        return element
    }

    /** Throws what has ended the flow, if that was a failure which has not been thrown. */
    private fun throwFailure() {
        val how = end as? Failed
        end = NONE
        if (how != null && !(isStopped && how.cause is CancellationException)) throw how.cause
    }

    override fun stop() {
        isStopped = true
        producer.cancel(unwanted())
    }

    private fun unwanted() = CancellationException("the elements are not wanted any more")

    override fun lateFailure(): Throwable? = (end as? Failed)?.cause?.takeIf { it !is CancellationException }

    private class Failed(val cause: Throwable)
}
