package baton.stress

import baton.parallel.Outcome
import baton.parallel.forEachLimit
import baton.parallel.mapLimit
import baton.parallel.mapSettled
import java.io.IOException
import java.util.concurrent.atomic.AtomicInteger
import java.util.concurrent.atomic.AtomicLong
import kotlinx.coroutines.CancellationException
import kotlinx.coroutines.async
import kotlinx.coroutines.cancel
import kotlinx.coroutines.currentCoroutineContext
import kotlinx.coroutines.flow.asFlow
import kotlinx.coroutines.flow.toList
import kotlinx.coroutines.launch
import kotlinx.coroutines.supervisorScope
import kotlinx.coroutines.yield
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.api.Test

/** Many elements, of which some fail, and whose callers are cancelled. */
class MapStressTest : Stress() {
    private val started = AtomicLong()
    private val ended = AtomicLong()

    /** The elements of one call. */
    private inner class Call(val limit: Int, val failsOneIn: Int) {
        val inFlight = AtomicInteger()
        private val isPulling = AtomicInteger()
        var pulled = 0

        val elements: Sequence<Int> = sequence {
            repeat(1_000) {
                check(isPulling.incrementAndGet() == 1) { "two pull" }
                pulled++
                isPulling.decrementAndGet()
                yield(it)
            }
        }

        fun weightOf(element: Int) = 1 + element % limit

        suspend fun transform(element: Int, weight: Int = 1): Int {
            started.incrementAndGet()
            check(inFlight.addAndGet(weight) <= limit) { "more than $limit in flight" }
            try {
                if (chance(1)) yield()
                if (failsOneIn > 0 && random.nextInt(failsOneIn) == 0) throw IOException("$element")
                if (failsOneIn > 0 && random.nextInt(failsOneIn) == 0) currentCoroutineContext().cancel()
                return element
            } finally {
                inFlight.addAndGet(-weight)
                ended.incrementAndGet()
            }
        }

        suspend fun run(kind: Int) {
            val mapped =
                when (kind) {
                    0 -> elements.mapLimit(limit) { transform(it) }
                    1 -> elements.mapLimit(limit, ordered = false, cancelRunning = true) { transform(it) }.sorted()
                    2 -> elements.asIterable().mapLimit(limit, weight = ::weightOf) { transform(it, weightOf(it)) }
                    3 -> elements.asFlow().mapLimit(limit) { transform(it) }.toList()
                    4 -> elements.asFlow().mapLimit(limit, ordered = false) { transform(it) }.toList().sorted()
                    5 -> settled(elements.mapSettled(limit) { transform(it) })
                    6 -> settled(elements.asFlow().mapSettled(limit) { transform(it) }.toList())
                    else ->
                        all.also { elements.forEachLimit(limit, weight = ::weightOf) { transform(it, weightOf(it)) } }
                }
            assertEquals(all, mapped)
        }

        private fun settled(outcomes: List<Outcome<Int>>) =
            outcomes.mapIndexed { index, outcome ->
                when (outcome) {
                    is Outcome.Success -> outcome.value
                    is Outcome.Failure -> outcome.cause.message!!.toInt()
                    is Outcome.Cancelled -> index
                    Outcome.NotStarted -> -1
                }
            }
    }

    @Test
    fun maps_withFailuresAndCancels_keepTheLimitAndEndWhatTheyStart() {
        stress(started, ended) {
            val calls = AtomicInteger()
            repeat(4) {
                launch {
                    while (started.get() < ELEMENTS) {
                        val call = Call(limit = random.nextInt(1, 9), failsOneIn = oneOf(0, 0, 0, 5_000, 500))
                        val kind = calls.getAndIncrement() % 8
                        supervisorScope {
                            val job = async { call.run(kind) }
                            if (chance(2)) {
                                yieldUpTo(100)
                                job.cancel()
                            }
                            job.join()
                            val e = job.getCompletionExceptionOrNull()
                            if (e != null && e !is CancellationException && e !is IOException) throw e
                            if (e is IOException) assertTrue(call.failsOneIn > 0)
                        }
                        assertEquals(0, call.inFlight.get())
                        watchdog.progress()
                    }
                }
            }
        }
        assertTrue(started.get() >= ELEMENTS)
        assertEquals(started.get(), ended.get())
    }

    private companion object {
        const val ELEMENTS = 300_000L
        val all = List(1_000) { it }
    }
}
