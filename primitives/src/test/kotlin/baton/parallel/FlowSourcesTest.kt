package baton.parallel

import java.io.IOException
import java.util.concurrent.atomic.AtomicInteger
import kotlin.time.Duration.Companion.milliseconds
import kotlinx.coroutines.CancellationException
import kotlinx.coroutines.Dispatchers
import kotlinx.coroutines.awaitCancellation
import kotlinx.coroutines.cancelAndJoin
import kotlinx.coroutines.delay
import kotlinx.coroutines.flow.Flow
import kotlinx.coroutines.flow.FlowCollector
import kotlinx.coroutines.flow.asFlow
import kotlinx.coroutines.flow.buffer
import kotlinx.coroutines.flow.catch
import kotlinx.coroutines.flow.channelFlow
import kotlinx.coroutines.flow.collect
import kotlinx.coroutines.flow.emptyFlow
import kotlinx.coroutines.flow.flow
import kotlinx.coroutines.flow.flowOn
import kotlinx.coroutines.flow.onCompletion
import kotlinx.coroutines.flow.retry
import kotlinx.coroutines.flow.take
import kotlinx.coroutines.flow.toList
import kotlinx.coroutines.launch
import kotlinx.coroutines.test.currentTime
import kotlinx.coroutines.test.runTest
import kotlinx.coroutines.withTimeoutOrNull
import kotlinx.coroutines.yield
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertSame
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.api.Test
import org.junit.jupiter.api.assertThrows
import org.junit.jupiter.params.ParameterizedTest
import org.junit.jupiter.params.provider.ValueSource

/** Flows of all kinds in front of a map, and operators behind it. */
class FlowSourcesTest {
    private val numbers = (0..<100).asFlow()

    private fun fromChannel(count: Int) = channelFlow {
        repeat(4) { part -> launch { for (i in part..<count step 4) send(i) } }
    }

    @Test
    fun sources_andOperators_loseNothing() = runTest {
        val all = List(100) { it }
        suspend fun double(i: Int) = i.also { yield() }
        assertEquals(all, fromChannel(100).mapLimit(3) { double(it) }.toList().sorted())
        assertEquals(all, numbers.buffer(10).mapLimit(3) { double(it) }.buffer(5).toList())
        val flowOn = numbers.flowOn(Dispatchers.Default).mapLimit(3) { double(it) }
        assertEquals(all, flowOn.flowOn(Dispatchers.Default).mapLimit(2) { double(it) }.toList())
        assertEquals(all, numbers.mapLimit(Int.MAX_VALUE) { double(it) }.toList())
        assertEquals(all, numbers.mapLimit(3, ordered = false) { double(it) }.toList().sorted())
    }

    @Test
    fun sources_thatAreEmpty_yieldNothing() = runTest {
        assertEquals(emptyList<Int>(), emptyFlow<Int>().mapLimit(3) { it }.toList())
        assertEquals(emptyList<Any>(), emptyFlow<Int>().mapSettled(3) { it }.toList())
        emptyFlow<Int>().forEachLimit(3) { throw IOException() }
        assertEquals(emptyList<Any>(), emptyFlow<Int>().processInChunks(3, 3) { it }.toList())
    }

    @Test
    fun nulls_areElementsAndResults() = runTest {
        val nulls = listOf(null, 1, null).asFlow()
        assertEquals(listOf(null, 1, null), nulls.mapLimit(2) { it }.toList())
        assertEquals(listOf(null, 1, null), nulls.mapSettled(2) { it }.toList().map { it.getOrThrow() })
        assertEquals(listOf(listOf(null, 1), listOf(null)), nulls.processInChunks(2, 2) { it }.toList())
    }

    /** All places are taken, or all results wait to be emitted. */
    @ParameterizedTest
    @ValueSource(booleans = [true, false])
    fun source_failsWhileAllPlacesAreTaken_isThrownAfterWhatRuns(ordered: Boolean) = runTest {
        val source = flow {
            repeat(3) { emit(it) }
            delay(5)
            throw IOException("source")
        }
        val emitted = mutableListOf<Int>()
        val mapped = source.mapLimit(3, ordered) { it.also { _ -> delay(10L * (it + 1)) } }
        val thrown = assertThrows<IOException> { mapped.collect { emitted += it } }
        assertEquals("source", thrown.message)
        assertEquals(listOf(0, 1, 2), emitted)
        assertEquals(30, currentTime)
        val slow = source.mapLimit(3, ordered) { it }
        emitted.clear()
        assertThrows<IOException> { slow.collect { delay(100).also { _ -> emitted += it } } }
        assertEquals(listOf(0, 1, 2), emitted)
    }

    /** A flow that is made without kotlinx.coroutines' builders may emit after it has caught its cancellation. */
    @Test
    fun source_emitsAfterItsCancellation_isRefused() = runTest {
        val refusals = mutableListOf<Throwable>()
        val stubborn =
            object : Flow<Int> {
                override suspend fun collect(collector: FlowCollector<Int>) {
                    var next = 0
                    while (refusals.size < 3) try {
                        collector.emit(next++)
                    } catch (e: Throwable) {
                        refusals += e
                    }
                }
            }
        val disk = IOException("disk")
        val thrown = assertThrows<IOException> { stubborn.mapLimit(1) { delay(10).also { throw disk } }.collect() }
        assertSame(disk, thrown)
        assertEquals(emptyList<Throwable>(), disk.suppressed.toList())
        assertEquals(3, refusals.size)
        for (refusal in refusals) assertTrue(refusal is CancellationException) { "$refusal" }
        refusals.clear()
        assertEquals(listOf(0, 1), stubborn.mapLimit(2) { it }.take(2).toList())
        for (refusal in refusals) assertTrue(refusal is CancellationException) { "$refusal" }
    }

    @Test
    fun source_timesAnEmissionOut_goesOnWithoutThatElement() = runTest {
        val timedOut = mutableListOf<Int>()
        val started = mutableListOf<Int>()
        val impatient =
            object : Flow<Int> {
                override suspend fun collect(collector: FlowCollector<Int>) {
                    for (i in 0..2) withTimeoutOrNull(if (i == 2) 100L else 5L) { collector.emit(i) } ?: timedOut.add(i)
                }
            }
        impatient.forEachLimit(1) { started += it.also { delay(50) } }
        assertEquals(listOf(listOf(1), listOf(0, 2)), listOf(timedOut, started))
        started.clear()
        timedOut.clear()
        impatient.mapLimit(1) { it.also { started += it.also { delay(50) } } }.collect()
        assertEquals(listOf(listOf(1), listOf(0, 2)), listOf(timedOut, started))
    }

    @Test
    fun weight_throws_isAFailureThatTheSourceDoesNotSee() = runTest {
        val seen = mutableListOf<Throwable?>()
        val source = flow {
            try {
                repeat(3) { emit(it) }
            } catch (e: Throwable) {
                seen += e
                throw e
            }
        }
        val weighed = source.mapLimit(2, weight = { if (it == 1) throw IOException("weight") else 1 }) { delay(10) }
        assertEquals("weight", assertThrows<IOException> { weighed.collect() }.message)
        assertEquals(10, currentTime)
        assertTrue(seen.all { it is CancellationException }) { "$seen" }
    }

    @Test
    fun map_isTriedAgain_beginsAnew() = runTest {
        var attempts = 0
        val flow =
            flow {
                    attempts++
                    repeat(10) { emit(it) }
                }
                .mapLimit(3) { if (it == 5 && attempts < 3) throw IOException("5") else it }
                .retry(2)
        assertEquals(List(5) { it } + List(5) { it } + List(10) { it }, flow.toList())
        val caught = numbers.mapLimit(3) { if (it == 5) throw IOException("5") else it }.catch { emit(-1) }
        assertEquals(listOf(0, 1, 2, 3, 4, -1), caught.toList())
    }

    /** Each step of a source and of the collector is a chance for another interleaving. */
    @Test
    fun take_afterAnyNumber_cancelsAllThatRuns() = runTest {
        for (count in 1..10) {
            for (ordered in listOf(true, false)) {
                val running = AtomicInteger()
                var ends = 0
                val source = flow { while (true) emit(0) }.onCompletion { ends++ }
                val flow =
                    source.mapLimit(4, ordered) {
                        running.incrementAndGet()
                        try {
                            delay(1)
                        } finally {
                            running.decrementAndGet()
                        }
                    }
                assertEquals(count, flow.take(count).toList().size)
                assertEquals(0, running.get())
                assertEquals(1, ends)
            }
        }
    }

    @Test
    fun source_isSilentAndTheCollectorIsCancelled_ends() = runTest {
        val silent = channelFlow<Int> { awaitCancellation() }
        val job = launch { silent.mapLimit(3) { it }.collect() }
        delay(10)
        job.cancelAndJoin()
        assertEquals(10, currentTime)
    }

    /** The gate changes at each look, so also before and after the last element. */
    @Test
    fun gate_opensAndClosesAtEachLook_holdsUpNothing() = runTest {
        for (count in 0..9) {
            for (limit in 1..4) {
                var looks = 0
                val gate =
                    MemoryGate(high = 0.8, low = 0.5, maxBytes = 10, every = 1.milliseconds) { 9L * (looks++ % 2) }
                val numbers = List(count) { it }
                val chunks = numbers.processInChunks(3, limit, gate) { it.also { delay(2) } }
                val ofFlow = numbers.asFlow().processInChunks(3, limit, gate) { it.also { delay(2) } }
                assertEquals(numbers.chunked(3), chunks.toList())
                assertEquals(numbers.chunked(3), ofFlow.toList())
            }
        }
    }

    @Test
    fun gate_throws_endsTheCallAfterWhatRuns() = runTest {
        var looks = 0
        val gate = MemoryGate { if (looks++ == 2) throw IOException("gate") else 0 }
        val chunks = (0..9).processInChunks(2, 3, gate) { delay(10) }
        assertEquals("gate", assertThrows<IOException> { chunks.collect() }.message)
        assertEquals(10, currentTime)
    }
}
