package baton.parallel.core

import baton.sync.Semaphore
import kotlinx.coroutines.channels.Channel
import kotlinx.coroutines.flow.FlowCollector

/**
 * The results of a flow, until they are emitted. A result keeps the permits of its element in [places] until the
 * emitter, one coroutine, has taken it; one in a chunk, until the chunk has been collected.
 */
internal class Emissions(ordered: Boolean, private val chunk: Int, private val places: Semaphore) :
    ReadyResults(ordered, chunk) {
    /** Tells the emitter to look again. */
    private val changes = Channel<Unit>(Channel.CONFLATED)

    override val holdPlaces: Boolean
        get() = true

    override fun onReady() {
        changes.trySend(Unit)
    }

    override fun onOver() {
        changes.trySend(Unit)
    }

    /** Emits the results until [core] is over. */
    suspend fun <R> emitTo(collector: FlowCollector<R>, core: MapCore) {
        while (true) {
            val isOver = core.isOver
            val value = poll(rest = isOver && !core.isStopped)
            if (value === NONE) {
                if (isOver) return
                changes.receive()
                continue
            }
            if (chunk == 0) places.release(polledWeight)
            @Suppress("UNCHECKED_CAST") collector.emit(value as R)
            if (chunk > 0) places.release(polledWeight)
        }
    }
}
