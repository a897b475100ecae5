package baton.parallel

import baton.sync.Semaphore
import baton.sync.SemaphoreClosedException
import baton.waiting.Symbol
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
 * The elements of a flow, which is collected by a coroutine of its own, the producer. It hands over one element at a
 * time, and suspends in its `emit` until that is taken: so it holds one element at most.
 *
 * ```
 * producer: slot = element · filled.release() · emptied.acquire()      at its end: end = … · filled.close()
 * puller:   filled.acquire() · takes the slot · emptied.release()
 * ```
 *
 * Each side touches the slot only while it holds the permit that the other one has released. Unlike a channel's, such a
 * hand-over loses nothing if the puller is cancelled when the element is already granted to it: the permit goes back.
 * An `emit` that is cancelled is the last one, because the slot is still full. kotlinx.coroutines' own flows refuse to
 * emit after that; for other ones it is refused here.
 */
internal class FlowSource(private val flow: Flow<Any?>) : ElementSource() {
    private val filled = Semaphore(1, acquired = 1)
    private val emptied = Semaphore(1, acquired = 1)
    private var slot: Any? = null
    private lateinit var producer: Job

    /** Set before the producer is cancelled for it. */
    @Volatile private var isStopped = false

    /** How the flow has ended: [NONE], or its exception. */
    @Volatile private var end: Any? = null

    override fun startIn(scope: CoroutineScope) {
        producer =
            scope.launch {
                val job = coroutineContext.job
                var isFull = false
                end =
                    try {
                        flow.collect { element ->
                            job.ensureActive()
                            check(!isFull) { "the source emits although its last emission has not returned" }
                            isFull = true
                            slot = element
                            filled.release()
                            emptied.acquire()
                            isFull = false
                        }
                        NONE
                    } catch (e: Throwable) {
                        Failed(e)
                    }
            }
        producer.invokeOnCompletion { cause ->
            if (end == null) end = Failed(cause ?: CancellationException("the source was not collected"))
            filled.close()
        }
    }

    override suspend fun next(): Any? {
        try {
            filled.acquire()
        } catch (_: SemaphoreClosedException) {
            val how = end as? Failed
            end = NONE
            if (how == null || isStopped && how.cause is CancellationException) return NONE
            throw how.cause
        }
        val element = slot
        slot = null
        emptied.release()
        return element
    }

    override fun stop() {
        isStopped = true
        producer.cancel(CancellationException("the elements are not wanted any more"))
    }

    override fun lateFailure(): Throwable? = (end as? Failed)?.cause?.takeIf { it !is CancellationException }

    private class Failed(val cause: Throwable)
}
