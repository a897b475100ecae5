package baton.memory

import baton.asClock
import baton.resilience.CircuitBreaker
import baton.resilience.CircuitBreakerConfig
import baton.resilience.CircuitBreakers
import baton.resilience.SlidingWindow
import baton.sync.Latch
import baton.waiting.Enough
import com.sun.management.ThreadMXBean
import java.lang.management.ManagementFactory
import java.lang.ref.WeakReference
import kotlin.time.Duration.Companion.days
import kotlin.time.Duration.Companion.minutes
import kotlin.time.Duration.Companion.seconds
import kotlin.time.TestTimeSource
import kotlinx.coroutines.Job
import kotlinx.coroutines.runBlocking
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.api.Test

class BreakerMemoryTest {
    private val tripped = CircuitBreaker().also { it.trip() }

    private fun bytesOfEach(count: Int, create: (Int) -> Any): Long {
        val kept = arrayOfNulls<Any>(count)
        val before = usedHeap()
        for (i in kept.indices) kept[i] = create(i)
        val bytes = (usedHeap() - before) / count
        assertEquals(count, kept.size)
        return bytes
    }

    @Test
    fun idleBreaker_isSmall() {
        val plain = bytesOfEach(20_000) { CircuitBreaker() }
        assertTrue(plain <= 700) { "$plain bytes" }
        val keys = CircuitBreakers<Int>()
        val keyed = bytesOfEach(20_000) { keys.also { _ -> runBlocking { keys.protect(it) {} } } }
        assertTrue(keyed <= 1_000) { "$keyed bytes with its place in the registry" }
        assertEquals(20_000, keys.size)
    }

    @Test
    fun waiter_isAsBigAsThatOfALatch() {
        val latch = Latch(1)
        val atLatch = bytesOfEach(100_000) { park { latch.await() } }
        val atBreaker = bytesOfEach(100_000) { park { tripped.awaitClosed() } }
        assertTrue(atBreaker <= atLatch + 8) { "$atBreaker bytes, at a latch $atLatch" }
        tripped.reset()
        assertEquals(0, tripped.waiting)
    }

    @Test
    fun cancelledWaiters_leaveNothing() {
        val survivor = park { tripped.awaitClosed() }
        assertLeavesNothing(200_000) { count ->
            val jobs = List(count) { park { tripped.awaitClosed() } }
            jobs.forEach { it.cancel(Enough) }
        }
        assertEquals(1, tripped.waiting)
        survivor.cancel()
    }

    @Test
    fun callOfAClosedBreaker_allocatesNothing() {
        val configs =
            listOf(
                CircuitBreakerConfig(),
                CircuitBreakerConfig(slowCall = 2.seconds),
                CircuitBreakerConfig(SlidingWindow.Time(1.days)),
            )
        for (config in configs) assertAllocatesNothing(CircuitBreaker(config))
    }

    private fun assertAllocatesNothing(breaker: CircuitBreaker) = runBlocking {
        breaker.bytesOfCalls()
        val bytes = breaker.bytesOfCalls()
        // Less than a byte each: the measurement itself allocates a little.
        assertTrue(bytes < CALLS) { "$bytes bytes in $CALLS calls of $breaker" }
    }

    private suspend fun CircuitBreaker.bytesOfCalls(): Long {
        val before = threads.currentThreadAllocatedBytes
        repeat(CALLS) { protect {} }
        return threads.currentThreadAllocatedBytes - before
    }

    @Test
    fun forgottenBreakers_leaveNothing() {
        val clock = TestTimeSource()
        val keys = CircuitBreakers<Any>(CircuitBreakerConfig(clock = clock.asClock()), keepIdle = 1.minutes)
        val references = List(3) { keys.seen(Any()) }.flatten()
        assertLeavesNothing(20_000) { count ->
            repeat(count) { keys.reset(it.also { keys.trip(it) }) }
            clock += 1.minutes
            repeat(count) { keys.trip("other") }
            assertEquals(1, keys.size)
        }
        assertCollected(references)
        assertEquals(1, keys.size)
    }

    /** In a function of its own: no local keeps anything. */
    private fun CircuitBreakers<Any>.seen(key: Any): List<WeakReference<*>> {
        trip(key)
        reset(key)
        return listOf(WeakReference(key), WeakReference(table.peek(key)))
    }

    @Test
    fun closedListeners_andWaitersThatWereLetGo_areNotKept() {
        val breaker = CircuitBreaker()
        assertCollected(List(3) { breaker.used() }.flatten())
        assertEquals(0, breaker.waiting)
    }

    private fun CircuitBreaker.used(): List<WeakReference<*>> {
        trip()
        val payload = Any()
        val job: Job = park { awaitClosed() }
        onChange { _, _ -> check(payload !== this) }.use { reset() }
        return listOf(WeakReference(payload), WeakReference(job))
    }

    private companion object {
        const val CALLS = 20_000
        val threads = ManagementFactory.getThreadMXBean() as ThreadMXBean
    }
}
