package baton.parallel.core

import baton.channels.Channel
import baton.channels.ChannelClosedException
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
 * The elements of a flow. A coroutine of its own, the producer, collects it and sends each element to the puller.
 *
 * With [places] the producer takes a permit of them for each element, and goes on while there are some. Without, the
 * channel has no buffer: the producer suspends until the element is taken. Either way the one element that has no place
 * waits in an `emit`. An emission that is cancelled there has sent nothing, and none is accepted once the producer is
 * cancelled.
 */
internal class FlowSource(private val flow: Flow<Any?>, private val places: Semaphore? = null) : ElementSource() {
    private val elements = Channel<Any?>(if (places == null) Channel.RENDEZVOUS else Channel.UNLIMITED)
    private lateinit var producer: Job

    /** Set before the producer ends for it. */
    @Volatile private var isStopped = false

    /** How the flow has failed, until [next] has thrown it. Written before [elements] are closed. */
    @Volatile private var failure: Throwable? = null

    override val takesPlaces: Boolean
        get() = places != null

    override fun startIn(scope: CoroutineScope) {
        producer =
            scope.launch {
                val job = coroutineContext.job
                try {
                    flow.collect { element -> if (!tryEmit(element, job)) awaitEmission(element) }
                } catch (e: Throwable) {
                    failure = e
                }
            }
        producer.invokeOnCompletion { cause ->
            if (failure == null) failure = cause
            elements.close()
        }
    }

    private fun tryEmit(element: Any?, job: Job): Boolean {
        job.ensureActive()
        return (places == null || orStopped { places.tryAcquire() }) && elements.trySend(element).isSuccess
    }

    private suspend fun awaitEmission(element: Any?) {
        if (places != null) orStopped { places.acquire() }
        elements.send(element)
    }

    /** [stop] is about to be called, as only a stop closes the places. The producer may end before that. */
    private inline fun <R> orStopped(acquire: () -> R): R =
        try {
            acquire()
        } catch (_: SemaphoreClosedException) {
            isStopped = true
            throw unwanted()
        }

    override suspend fun next(): Any? {
        val element = elements.tryReceive()
        return if (element.isSuccess) element.getOrThrow() else awaitElement()
    }

    private suspend fun awaitElement(): Any? =
        try {
            elements.receive()
        } catch (_: ChannelClosedException) {
            endOrThrow()
        }

    private fun endOrThrow(): Symbol {
        val thrown = failure
        failure = null
        if (thrown != null && !(isStopped && thrown is CancellationException)) throw thrown
        return NONE
    }

    override fun stop() {
        isStopped = true
        producer.cancel(unwanted())
    }

    private fun unwanted() = CancellationException("the elements are not wanted any more")

    override fun lateFailure(): Throwable? = failure?.takeIf { it !is CancellationException }
}
