package baton.monitoring

import baton.sync.Mutex
import baton.sync.Semaphore
import baton.waiting.FakeWaiter
import baton.waiting.WaitNote
import baton.waiting.Waiter
import java.util.concurrent.TimeUnit
import kotlin.time.Duration
import kotlin.time.Duration.Companion.milliseconds
import kotlin.time.Duration.Companion.nanoseconds
import kotlinx.coroutines.CoroutineScope
import kotlinx.coroutines.CoroutineStart
import kotlinx.coroutines.cancelAndJoin
import kotlinx.coroutines.delay
import kotlinx.coroutines.launch
import kotlinx.coroutines.test.runTest
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertNotNull
import org.junit.jupiter.api.Assertions.assertNull
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.api.BeforeEach
import org.junit.jupiter.api.Test
import org.junit.jupiter.params.ParameterizedTest
import org.junit.jupiter.params.provider.MethodSource

/** When the begin of a wait is noted. */
class WaitNotesTest : WatchedSources() {
    private val semaphore = Semaphore(1, acquired = 1)

    /** A dump of another test in this JVM has begun to note all waits. */
    @BeforeEach
    fun noteNoWaits() {
        WaitNote.areTaken = false
    }

    private fun enqueued() =
        FakeWaiter(semaphore.core, 1).also { assertEquals(Waiter.WAITING, semaphore.core.enqueue(it)) }

    @Test
    fun wait_whileNotWatched_isNotNoted() {
        assertNull(enqueued().note)
        semaphore.usage()
        assertNull(enqueued().note, "to read the usage is not to watch")
    }

    @Test
    fun wait_whileWatched_isNotedAndMeasuredFromItsBegin() {
        runTest {
            val monitor = Monitor(backgroundScope)
            val watch = monitor.watchKept(semaphore)
            val before = System.nanoTime()
            val waiter = enqueued()
            val after = System.nanoTime()
            val since = assertNotNull(waiter.note).let { waiter.note!!.since }
            assertTrue(since - before >= 0 && after - since >= 0)
            val earliest = System.nanoTime()
            val usage = semaphore.usage()
            val latest = System.nanoTime()
            assertTrue(usage.longestWait in (earliest - since).nanoseconds..(latest - since).nanoseconds)
            watch.close()
            assertNull(enqueued().note)
        }
    }

    @ParameterizedTest
    @MethodSource("baton.monitoring.UsageTest#cases")
    fun wait_ofEachTypeWhileWatched_isNotedWhenItBegins(case: UsageTest.Case) {
        val wait = case.wait ?: return
        runTest {
            Monitor(backgroundScope).watchKept(case.source)
            val before = System.nanoTime()
            val waiter = launch(start = CoroutineStart.UNDISPATCHED) { wait() }
            val after = System.nanoTime()
            while (System.nanoTime() == after) Thread.onSpinWait()
            val since = case.source.usage().longest!!.since
            assertTrue(since - before >= 0 && after - since >= 0) { "$before, $since, $after" }
            waiter.cancelAndJoin()
        }
    }

    @Test
    fun wait_watchedByTwo_isNotedUntilBothHaveClosed() {
        runTest {
            val first = Monitor(backgroundScope)
            val second = Monitor(backgroundScope)
            first.watchKept(semaphore)
            second.watch("the same") { semaphore.usage() }
            delay(1.milliseconds)
            first.close()
            assertNotNull(enqueued().note)
            second.close()
            assertNull(enqueued().note)
        }
    }

    @Test
    fun wait_thatBeganUnwatched_countsFromTheFirstLook() {
        val waiter = enqueued()
        val first = semaphore.usage()
        assertTrue(first.longestWait < 60_000.milliseconds)
        val since = waiter.note!!.since
        assertTrue(System.nanoTime() - since < TimeUnit.MINUTES.toNanos(1))
        val second = semaphore.usage()
        assertEquals(since, waiter.note!!.since)
        assertTrue(second.longestWait >= first.longestWait)
    }

    @Test
    fun grant_ofAWatchedWait_isThatOfAnyOther() {
        runTest {
            val mutex = Mutex(locked = true)
            Monitor(backgroundScope).watchKept(mutex)
            val order = mutableListOf<Int>()
            repeat(3) { launchLocked(mutex, it, order) }
            delay(1.milliseconds)
            assertEquals(3, mutex.usage().waiting)
            mutex.unlock()
            delay(1.milliseconds)
            assertEquals(listOf(0, 1, 2), order)
            assertEquals(Duration.ZERO, mutex.usage().longestWait)
        }
    }

    private fun CoroutineScope.launchLocked(mutex: Mutex, number: Int, order: MutableList<Int>) = launch {
        mutex.lock()
        order += number
        mutex.unlock()
    }
}
