package baton.parallel

import java.io.IOException
import java.util.concurrent.atomic.AtomicInteger
import kotlinx.coroutines.CoroutineName
import kotlinx.coroutines.Dispatchers
import kotlinx.coroutines.NonCancellable
import kotlinx.coroutines.awaitCancellation
import kotlinx.coroutines.cancelAndJoin
import kotlinx.coroutines.currentCoroutineContext
import kotlinx.coroutines.delay
import kotlinx.coroutines.flow.Flow
import kotlinx.coroutines.flow.asFlow
import kotlinx.coroutines.flow.first
import kotlinx.coroutines.flow.flow
import kotlinx.coroutines.flow.flowOf
import kotlinx.coroutines.flow.flowOn
import kotlinx.coroutines.flow.onEach
import kotlinx.coroutines.flow.take
import kotlinx.coroutines.flow.toList
import kotlinx.coroutines.job
import kotlinx.coroutines.launch
import kotlinx.coroutines.test.currentTime
import kotlinx.coroutines.test.runTest
import kotlinx.coroutines.withContext
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertSame
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.api.Test
import org.junit.jupiter.api.assertThrows
import org.junit.jupiter.params.ParameterizedTest
import org.junit.jupiter.params.provider.CsvSource
import org.junit.jupiter.params.provider.ValueSource

/** The rules of maps of flows alone: the emission, and a source that suspends. */
class FlowMapSpecificsTest {
    private var pulled = 0
    private val endless: Flow<Int> = flow { while (true) emit(pulled++) }
    private val emitted = mutableListOf<Any?>()

    @Test
    fun flow_isCold_andMapsAnewForEachCollector() = runTest {
        val flow = endless.mapLimit(3) { it }.take(2)
        assertEquals(0, pulled)
        assertEquals(listOf(0, 1), flow.toList())
        assertTrue(pulled in 2..6)
        val second = pulled
        assertEquals(listOf(second, second + 1), flow.toList())
    }

    /** The first result is being emitted: [limit] others run or wait, and the source has one element more. */
    @ParameterizedTest
    @CsvSource("1, true", "4, true", "4, false")
    fun collector_isSlow_holdsUpEverything(limit: Int, ordered: Boolean) = runTest {
        var started = 0
        val job = launch { endless.mapLimit(limit, ordered) { started++ }.collect { delay(1_000) } }
        delay(500)
        for (collected in 1..5) {
            assertEquals(limit + collected, started)
            assertTrue(pulled <= limit + collected + 1) { "$pulled" }
            delay(1_000)
        }
        job.cancelAndJoin()
    }

    /** The heavy element has to wait until the results of the light ones are collected. */
    @Test
    fun collector_isSlow_holdsUpWeightsToo() = runTest {
        var started = 0
        val job = launch {
            endless.mapLimit(4, weight = { if (it == 4) 3 else 1 }) { started++ }.collect { delay(100) }
        }
        delay(50)
        for (expected in listOf(4, 4, 5, 6)) {
            assertEquals(expected, started, "at $currentTime")
            delay(100)
        }
        job.cancelAndJoin()
    }

    @ParameterizedTest
    @ValueSource(strings = ["first", "collector fails", "failure"])
    fun collection_endsEarly_cancelsAndAwaitsWhatRunsAndTheSource(how: String) = runTest {
        val ended = AtomicInteger()
        suspend fun cleanUp() {
            withContext(NonCancellable) { delay(20) }
            ended.incrementAndGet()
        }
        val source = flow {
            try {
                repeat(3) { emit(it) }
                awaitCancellation()
            } finally {
                cleanUp()
            }
        }
        val flow =
            source.mapLimit(5, cancelRunning = true) {
                if (it == 0 && how != "failure") return@mapLimit it.also { delay(5) }
                try {
                    delay(10)
                    if (how == "failure") throw IOException("failure")
                    awaitCancellation()
                } finally {
                    cleanUp()
                }
            }
        when (how) {
            "first" -> assertEquals(0, flow.first())
            else -> assertEquals(how, assertThrows<IOException> { flow.collect { throw IOException(how) } }.message)
        }
        assertEquals(if (how == "failure") 4 else 3, ended.get())
        assertTrue(currentTime in 20L..50L) { "$currentTime" }
        assertEquals(0, currentCoroutineContext().job.children.count())
    }

    /** A map of any other flow fails, too, when its source is silent. */
    @Test
    fun element_failsWhileTheSourceIsSuspended_cancelsTheSource() = runTest {
        val disk = IOException("disk")
        val silent = flow {
            emit(1)
            awaitCancellation()
        }
        for (call in
            listOf<suspend () -> Unit>(
                { silent.mapLimit(3) { delay(10).also { throw disk } }.collect {} },
                { silent.forEachLimit(3) { delay(10).also { throw disk } } },
            )) assertSame(disk, assertThrows<IOException> { call() })
        assertEquals(20, currentTime)
        assertEquals(emptyList<Throwable>(), disk.suppressed.toList())
        val outcomes = silent.mapSettled(3, maxFailures = 1) { delay(10).also { throw disk } }.toList()
        assertEquals(listOf(Outcome.Failure(disk)), outcomes)
    }

    @Test
    fun source_cleanUpThrowsAfterAFailure_isSuppressed() = runTest {
        val source = flow {
            try {
                emit(1)
                awaitCancellation()
            } finally {
                throw IOException("clean-up")
            }
        }
        val thrown = assertThrows<IOException> { source.mapLimit(2) { throw IOException("first") }.collect {} }
        assertEquals("first", thrown.message)
        assertEquals(listOf("clean-up"), thrown.suppressed.map { it.message })
    }

    /** Element 2 fails at 20, when 1, 0 and 3 have results, in this order; 4 runs until 50, and 5 until 65. */
    @ParameterizedTest
    @CsvSource("true, false, 0 1, 65", "false, false, 1 0 3 4 5, 65", "true, true, 0 1, 20", "false, true, 1 0 3, 20")
    fun failure_resultsThatCanBeEmitted_areEmitted(ordered: Boolean, cancel: Boolean, expected: String, end: Long) =
        runTest {
            val times = listOf(10L, 5, 20, 15, 50, 60)
            val flow =
                times.indices.asFlow().mapLimit(5, ordered, cancelRunning = cancel) {
                    delay(times[it])
                    if (it == 2) throw IOException("2") else it
                }
            assertThrows<IOException> { flow.collect { emitted += it } }
            assertEquals(expected, emitted.joinToString(" "))
            if (!ordered) assertEquals(end, currentTime) else assertTrue(currentTime in 20..end + 5) { "$currentTime" }
        }

    @Test
    fun flow_keepsItsContext() = runTest {
        val names = mutableSetOf<String?>()
        suspend fun note(where: String) {
            names += "$where ${currentCoroutineContext()[CoroutineName]?.name}"
        }
        val flow =
            flow {
                    note("source")
                    emit(1)
                }
                .mapLimit(2) { note("transform") }
                .onEach { note("emission") }
        withContext(CoroutineName("c")) { flow.collect {} }
        assertEquals(setOf<String?>("source c", "transform c", "emission c"), names)
        withContext(CoroutineName("c")) {
            flow.flowOn(CoroutineName("up") + Dispatchers.Default).collect { note("end") }
        }
        assertTrue("end c" in names && "emission up" in names)
    }

    @Test
    fun maps_ofMaps_areFlows() = runTest {
        val flow =
            (0..99).asFlow().mapLimit(5) { it.also { delay(5L * (it % 3)) } }.mapLimit(3) { it.also { delay(7) } }
        assertEquals(List(100) { it }, flow.toList())
        assertEquals(listOf(listOf(1, 2)), flowOf(1).mapLimit(1) { flowOf(1, 2).mapLimit(2) { it }.toList() }.toList())
    }
}
