package baton.parallel

import java.util.concurrent.atomic.AtomicInteger
import kotlin.time.Duration.Companion.milliseconds
import kotlin.time.Duration.Companion.seconds
import kotlinx.coroutines.Dispatchers
import kotlinx.coroutines.NonCancellable
import kotlinx.coroutines.awaitCancellation
import kotlinx.coroutines.cancelAndJoin
import kotlinx.coroutines.delay
import kotlinx.coroutines.flow.Flow
import kotlinx.coroutines.flow.asFlow
import kotlinx.coroutines.flow.collect
import kotlinx.coroutines.flow.first
import kotlinx.coroutines.flow.toList
import kotlinx.coroutines.launch
import kotlinx.coroutines.test.currentTime
import kotlinx.coroutines.test.runTest
import kotlinx.coroutines.withContext
import kotlinx.coroutines.yield
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertSame
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.api.Test
import org.junit.jupiter.api.assertThrows
import org.junit.jupiter.params.ParameterizedTest
import org.junit.jupiter.params.provider.CsvSource
import org.junit.jupiter.params.provider.EnumSource

class ProcessInChunksTest {
    /** The three kinds of sources; each counts its [pulled] elements. */
    enum class Source {
        ITERABLE,
        SEQUENCE,
        FLOW;

        fun <R> chunks(
            items: Sequence<Int>,
            size: Int,
            limit: Int,
            gate: MemoryGate? = null,
            transform: suspend (Int) -> R,
        ): Flow<List<R>> =
            when (this) {
                ITERABLE -> items.asIterable().processInChunks(size, limit, gate, transform)
                SEQUENCE -> items.processInChunks(size, limit, gate, transform)
                FLOW -> items.asFlow().processInChunks(size, limit, gate, transform)
            }
    }

    private var pulled = 0
    private var running = 0
    private var done = 0

    private fun numbers(count: Int) = (0..<count).asSequence().onEach { pulled++ }

    private suspend fun work(millis: Long) {
        running++
        try {
            delay(millis)
            done++
        } finally {
            running--
        }
    }

    @ParameterizedTest
    @CsvSource(
        "0, 3, 2",
        "1, 3, 2",
        "3, 3, 2",
        "7, 3, 2",
        "7, 1, 10",
        "7, 100, 1",
        "100, 7, 3",
        "50, 2147483647, 2147483647",
    )
    fun chunks_areInInputOrder_andTheLastIsShorter(count: Int, size: Int, limit: Int) = runTest {
        for (source in Source.entries) {
            val chunks =
                source.chunks(numbers(count), size, limit) {
                    delay((it * 31 % 7).toLong())
                    it
                }
            assertEquals((0..<count).chunked(size), chunks.toList())
        }
    }

    @Test
    fun nullResults_arriveAsResults() = runTest {
        assertEquals(
            listOf(listOf(null, 1), listOf(null)),
            listOf(0, 1, 2).processInChunks(2, 2) { if (it == 1) 1 else null }.toList(),
        )
    }

    @ParameterizedTest
    @EnumSource
    fun collector_slow_holdsNoMoreThanSizeAndLimit(source: Source) = runTest {
        var collected = 0
        source
            .chunks(numbers(100), size = 5, limit = 3) { work(1) }
            .collect { chunk ->
                delay(100)
                assertEquals(minOf(collected + 5 + 3, 100), done)
                assertTrue(pulled <= done + 1) { "$pulled pulled, $done done" }
                collected += chunk.size
            }
        assertEquals(100, collected)
    }

    /**
     * Element 0 takes 100 ms, all others 10: its chunk of 4 is there at 100, and the room of 4 + 2 was used meanwhile.
     */
    @ParameterizedTest
    @EnumSource
    fun straggler_leavesItsOtherPlacesToTheNextChunk(source: Source) = runTest {
        val starts = mutableListOf<Long>()
        val ends = mutableListOf<Long>()
        source
            .chunks(numbers(8), size = 4, limit = 2) {
                starts += currentTime
                delay(if (it == 0) 100 else 10)
            }
            .collect { ends += currentTime }
        assertEquals(listOf<Long>(0, 0, 10, 20, 30, 40, 100, 100), starts)
        assertEquals(listOf<Long>(100, 110), ends)
    }

    @ParameterizedTest
    @EnumSource
    fun gate_closed_letsOneElementThroughAtATime(source: Source) = runTest {
        var used = 0L
        val gate = MemoryGate(high = 0.8, low = 0.5, maxBytes = 1_000, every = 1.milliseconds) { used }
        val most = mutableListOf<Int>()
        source
            .chunks(numbers(30), size = 3, limit = 3, gate) {
                if (it == 10) used = 900
                if (it == 20) used = 100
                running++
                if (it in 13..19) most += running
                delay(10)
                running--
            }
            .collect()
        assertEquals(List(7) { 1 }, most)
    }

    @ParameterizedTest
    @EnumSource
    fun gate_closedForEver_slowsDownAndNeverStops(source: Source) = runTest {
        val gate = MemoryGate(maxBytes = 1) { 2 }
        val chunks = source.chunks(numbers(20), size = 6, limit = 4, gate) { work(10) }.toList()
        assertEquals(20, chunks.sumOf { it.size })
        assertEquals(200, currentTime)
    }

    @ParameterizedTest
    @EnumSource
    fun transform_fails_stopsThePulling_andIsThrownWhenTheOthersHaveEnded(source: Source) = runTest {
        val failure = IllegalStateException("7")
        val chunks = mutableListOf<List<Int>>()
        val thrown =
            assertThrows<IllegalStateException> {
                source
                    .chunks(numbers(200_000), size = 3, limit = 2) {
                        if (it == 7) throw failure
                        work(10)
                        it
                    }
                    .collect { chunks += it }
            }
        assertSame(failure, thrown)
        assertEquals(listOf(listOf(0, 1, 2), listOf(3, 4, 5)), chunks)
        assertEquals(0, running)
        assertTrue(pulled <= 10) { "$pulled pulled" }
    }

    @ParameterizedTest
    @EnumSource
    fun source_fails_isThrown(source: Source) = runTest {
        val failure = IllegalStateException("source")
        val items = sequence {
            yieldAll(0..4)
            throw failure
        }
        val chunks = mutableListOf<List<Int>>()
        val thrown = assertThrows<IllegalStateException> { source.chunks(items, 2, 2) { it }.collect { chunks += it } }
        assertSame(failure, thrown)
        assertEquals(listOf(listOf(0, 1), listOf(2, 3)), chunks)
    }

    @ParameterizedTest
    @EnumSource
    fun collector_endsEarly_cancelsWhatRunsAndWaitsForIt(source: Source) = runTest {
        var cleaned = 0
        val first =
            source
                .chunks(numbers(100), size = 2, limit = 3) {
                    if (it >= 2)
                        try {
                            awaitCancellation()
                        } finally {
                            withContext(NonCancellable) { delay(10) }
                            cleaned++
                        }
                    delay(5)
                    it
                }
                .first()
        assertEquals(listOf(0, 1), first)
        assertTrue(cleaned in 1..3) { "$cleaned cleaned" }
        assertTrue(pulled <= 2 + 3 + 1) { "$pulled pulled: more than size + limit, and a flow one ahead" }
        assertEquals(15, currentTime)
    }

    @ParameterizedTest
    @EnumSource
    fun collector_cancelled_cancelsWhatRuns(source: Source) = runTest {
        val collector = launch { source.chunks(numbers(10), size = 2, limit = 3) { work(1_000_000) }.collect() }
        testScheduler.advanceTimeBy(1.seconds)
        assertEquals(3, running)
        collector.cancelAndJoin()
        assertEquals(0, running)
        assertEquals(1_000, currentTime)
    }

    @Test
    fun flow_collectedTwice_beginsAnew() = runTest {
        val chunks = numbers(3).processInChunks(2, 2) { it }
        repeat(2) { assertEquals(listOf(listOf(0, 1), listOf(2)), chunks.toList()) }
        assertEquals(6, pulled)
    }

    @ParameterizedTest
    @CsvSource("-2147483648", "-1", "0")
    fun sizeAndLimit_below1_areRefusedAtTheCall(number: Int) {
        for (source in Source.entries) {
            for ((name, call) in
                mapOf(
                    "size" to { source.chunks(numbers(1), number, 1) { it } },
                    "limit" to { source.chunks(numbers(1), 1, number) { it } },
                )) {
                val message = assertThrows<IllegalArgumentException> { call() }.message
                assertEquals("$name = $number, must be at least 1", message)
            }
        }
        assertEquals(0, pulled)
    }

    @Test
    fun threads_ofADispatcher_keepTheBoundsAndLoseNothing() = runTest {
        val inFlight = AtomicInteger()
        val most = AtomicInteger()
        val results =
            withContext(Dispatchers.Default) {
                (0..<20_000)
                    .processInChunks(size = 7, limit = 4) {
                        most.accumulateAndGet(inFlight.incrementAndGet(), ::maxOf)
                        if (it % 3 == 0) yield()
                        inFlight.decrementAndGet()
                        it
                    }
                    .toList()
            }
        assertEquals((0..<20_000).chunked(7), results)
        assertTrue(most.get() <= 4) { "$most at once" }
    }
}
