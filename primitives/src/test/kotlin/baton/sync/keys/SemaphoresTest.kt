package baton.sync.keys

import baton.PermitTimeoutException
import baton.Priority
import baton.TooManyKeysException
import baton.sync.Semaphores
import baton.sync.WaitOrder
import kotlin.time.Duration
import kotlin.time.Duration.Companion.seconds
import kotlinx.coroutines.CompletableDeferred
import kotlinx.coroutines.CoroutineStart
import kotlinx.coroutines.ExperimentalCoroutinesApi
import kotlinx.coroutines.cancelAndJoin
import kotlinx.coroutines.delay
import kotlinx.coroutines.launch
import kotlinx.coroutines.test.TestScope
import kotlinx.coroutines.test.currentTime
import kotlinx.coroutines.test.runTest
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Test
import org.junit.jupiter.api.assertThrows

@OptIn(ExperimentalCoroutinesApi::class)
class SemaphoresTest {
    private val perHost = Semaphores<String>(permits = 2)

    private fun TestScope.start(priority: Priority = Priority.NORMAL, block: suspend () -> Unit) =
        launch(priority, start = CoroutineStart.UNDISPATCHED) { block() }

    @Test
    fun withPermit_boundsEachKeyByItself() = runTest {
        val ends = mutableListOf<Long>()
        repeat(5) { start { perHost.withPermit("a") { delay(1.seconds).also { ends += currentTime } } } }
        start { perHost.withPermit("b") { delay(1.seconds).also { ends += -currentTime } } }
        assertEquals(2, perHost.size)
        testScheduler.advanceUntilIdle()
        assertEquals(listOf(1_000L, 1_000, -1_000, 2_000, 2_000, 3_000), ends)
        assertEquals(0, perHost.size)
    }

    @Test
    fun withPermits_takesAllInOneStep() = runTest {
        val end = CompletableDeferred<Unit>()
        val one = start { perHost.withPermit("a") { end.await() } }
        val two = start { perHost.withPermits("a", 2) { assertEquals("a", it) } }
        assertThrows<PermitTimeoutException> { perHost.withPermit("a", Duration.ZERO) { error("overtook") } }
        end.complete(Unit)
        one.join()
        two.join()
        for ((bad, bound) in listOf(0 to "at least 1", 3 to "at most 2, the permits of Semaphore 'a'")) {
            val message = assertThrows<IllegalArgumentException> { perHost.withPermits("a", bad) {} }.message
            assertEquals("permits = $bad, must be $bound", message)
        }
        assertEquals(0, perHost.size)
    }

    @Test
    fun withPermit_timedOutOrCancelled_holdsNothing() = runTest {
        val end = CompletableDeferred<Unit>()
        val holder = start { perHost.withPermits("a", 2) { end.await() } }
        val late = assertThrows<PermitTimeoutException> { perHost.withPermit("a", 1.seconds) { error("ran") } }
        assertEquals("no permit within 1s from Semaphore 'a' (permits = 2, available = 0, waiting = 0)", late.message)
        start { perHost.withPermit("a") { error("ran") } }.cancelAndJoin()
        assertEquals(1, perHost.size)
        end.complete(Unit)
        holder.join()
        assertEquals(0, perHost.size)
        assertEquals(1, perHost.withPermit("a", 1.seconds) { 1 })
    }

    @Test
    fun order_isThatOfEachKey() = runTest {
        val ordered = Semaphores<String>(permits = 1, order = WaitOrder.PRIORITY)
        val end = CompletableDeferred<Unit>()
        start { ordered.withPermit("a") { end.await() } }
        val seen = mutableListOf<Priority>()
        for (level in listOf(Priority.LOW, Priority.HIGH)) start(level) { ordered.withPermit("a") { seen += level } }
        end.complete(Unit)
        testScheduler.advanceUntilIdle()
        assertEquals(listOf(Priority.HIGH, Priority.LOW), seen)
    }

    @Test
    fun keysInUse_areBounded() = runTest {
        val few = Semaphores<Int>(permits = 1, maxKeys = 2, name = "few")
        few.withPermit(1) {
            few.withPermit(2) {
                assertThrows<TooManyKeysException> { few.withPermit(3) { error("ran") } }
                assertThrows<TooManyKeysException> { few.withPermit(3, 1.seconds) { error("ran") } }
            }
            few.withPermit(3) {}
        }
        assertEquals("Semaphores 'few' (permits = 1, size = 0, maxKeys = 2)", few.toString())
    }

    @Test
    fun arguments_outOfBounds_areRefused() {
        for (permits in listOf(0, -1, Int.MIN_VALUE)) {
            val message = assertThrows<IllegalArgumentException> { Semaphores<Int>(permits) }.message
            assertEquals("permits = $permits, must be at least 1", message)
        }
        val message = assertThrows<IllegalArgumentException> { Semaphores<Int>(1, maxKeys = 0) }.message
        assertEquals("maxKeys = 0, must be at least 1", message)
    }
}
