package baton.shared

import baton.PermitTimeoutException
import baton.shared.word.CountsWord
import java.nio.file.Files
import java.time.Duration as JavaDuration
import java.util.concurrent.CompletableFuture
import java.util.concurrent.atomic.AtomicInteger
import kotlin.concurrent.thread
import kotlin.time.Duration
import kotlin.time.Duration.Companion.milliseconds
import kotlin.time.Duration.Companion.minutes
import kotlin.time.Duration.Companion.seconds
import kotlinx.coroutines.Dispatchers
import kotlinx.coroutines.async
import kotlinx.coroutines.cancelAndJoin
import kotlinx.coroutines.coroutineScope
import kotlinx.coroutines.delay
import kotlinx.coroutines.launch
import kotlinx.coroutines.runBlocking
import kotlinx.coroutines.supervisorScope
import kotlinx.coroutines.withTimeout
import kotlinx.coroutines.withTimeoutOrNull
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertFalse
import org.junit.jupiter.api.Assertions.assertNotNull
import org.junit.jupiter.api.Assertions.assertNull
import org.junit.jupiter.api.Assertions.assertSame
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.api.Tag
import org.junit.jupiter.api.Test
import org.junit.jupiter.api.assertThrows
import org.junit.jupiter.params.ParameterizedTest
import org.junit.jupiter.params.provider.ValueSource

@Tag("jdk")
class SharedSemaphoreTest : TwoMembers() {
    private val mine: SharedSemaphore
        get() = here.semaphore("s", permits = 3)

    private val others: SharedSemaphore
        get() = there.semaphore("s", permits = 3)

    @Test
    fun acquire_whileAnotherMemberHoldsThePermits_waitsForTheirClose() = runBlocking {
        val two = mine.acquire(2)
        assertEquals(1, others.availablePermits)
        val waiter = async { others.acquire(2) }
        delay(20)
        assertFalse(waiter.isCompleted)
        assertEquals(1, mine.availablePermits)
        two.close()
        val got = withTimeout(2.minutes) { waiter.await() }
        assertEquals(2, got.permits)
        assertEquals(1, mine.availablePermits)
        got.close()
        assertEquals(3, mine.availablePermits)
    }

    @Test
    fun tryAcquire_ofMoreThanAreFree_returnsNullAndTakesNone() {
        val one = mine.tryAcquire() ?: error("not acquired")
        assertNull(others.tryAcquire(3))
        assertEquals(2, others.availablePermits)
        val two = others.tryAcquire(2) ?: error("not acquired")
        assertNull(mine.tryAcquire())
        one.close()
        two.close()
        assertNotNull(mine.tryAcquire(3))
    }

    @ParameterizedTest
    @ValueSource(ints = [Int.MIN_VALUE, -1, 0, 4, Int.MAX_VALUE])
    fun acquire_ofANumberOutOfRange_throwsAtOnceAndTakesNone(permits: Int) = runBlocking {
        val message =
            "permits = $permits, must be within 1..3, the permits of SharedSemaphore 's' of ${path.toRealPath()}"
        val refusals =
            listOf(
                assertThrows<IllegalArgumentException> { runBlocking { mine.acquire(permits) } },
                assertThrows<IllegalArgumentException> { runBlocking { mine.tryAcquire(permits, Duration.ZERO) } },
                assertThrows<IllegalArgumentException> { mine.tryAcquire(permits) },
                assertThrows<IllegalArgumentException> { mine.acquireBlocking(permits) },
                assertThrows<IllegalArgumentException> { mine.acquireBlocking(permits, JavaDuration.ZERO) },
            )
        refusals.forEach { assertEquals(message, it.message) }
        assertEquals(3, mine.availablePermits)
    }

    @ParameterizedTest
    @ValueSource(ints = [Int.MIN_VALUE, -1, 0, CountsWord.MAX_COUNT + 1, Int.MAX_VALUE])
    fun semaphore_ofPermitsOutOfRange_throwsAndAddsNoName(permits: Int) {
        val refusal = assertThrows<IllegalArgumentException> { here.semaphore("new", permits) }
        assertEquals("permits = $permits of semaphore 'new', must be within 1..1048575", refusal.message)
        here.mutex("new")
    }

    @ParameterizedTest
    @ValueSource(ints = [1, CountsWord.MAX_COUNT])
    fun semaphore_ofTheFewestAndTheMostPermits_handsOutAllOfThem(permits: Int) {
        val semaphore = here.semaphore("edge", permits)
        val all = semaphore.tryAcquire(permits) ?: error("not acquired")
        assertEquals(0, semaphore.availablePermits)
        assertNull(there.semaphore("edge", permits).tryAcquire())
        all.close()
        assertEquals(permits, semaphore.availablePermits)
    }

    @Test
    fun semaphore_ofOtherPermitsOrKind_isRefused() {
        assertSame(mine.core, mine.core)
        val refusal = assertThrows<SharedRegionException> { there.semaphore("s", permits = 4) }
        val found = "'s' is a semaphore of permits = 3, not a semaphore of permits = 4"
        assertEquals("${path.toRealPath()}: $found", refusal.message)
        assertThrows<SharedRegionException> { there.mutex("s") }
        assertThrows<SharedRegionException> { here.semaphore("s", permits = 2) }
    }

    @Test
    fun close_ofAPermitTwice_returnsItOnce() {
        val two = mine.acquireBlocking(2)
        val one = mine.acquireBlocking()
        thread { two.close() }.join()
        two.close()
        assertEquals(2, others.availablePermits)
        one.close()
        assertEquals(3, others.availablePermits)
    }

    @Test
    fun waiters_ofOneProcess_areServedInTheOrderInWhichTheyCame() = runBlocking {
        val held = others.acquire(2)
        val order = ArrayList<Int>()
        val waiters = ArrayList<kotlinx.coroutines.Job>()
        for (permits in listOf(3, 1, 2)) {
            waiters += launch { mine.acquire(permits).use { order += permits } }
            while (mine.core.waiting + (if (mine.core.isQueued) 1 else 0) < waiters.size) delay(1)
        }
        assertNull(mine.tryAcquire(), "overtook the waiters of its process")
        held.close()
        withTimeout(2.minutes) { waiters.forEach { it.join() } }
        assertEquals(listOf(3, 1, 2), order)
    }

    @Test
    fun cancel_whileWaiting_leavesNothing() = runBlocking {
        val held = others.acquire(3)
        repeat(20) { round ->
            val waiters = List(3) { launch { mine.acquire(2) } }
            delay(round.toLong())
            waiters.forEach { it.cancelAndJoin() }
        }
        assertEquals(0, mine.availablePermits)
        held.close()
        assertNotNull(mine.tryAcquire(3))
    }

    @Test
    fun tryAcquire_withATimeoutThatEnds_returnsNullAndHoldsNothing() = runBlocking {
        val held = others.acquire(2)
        for (timeout in listOf(30.milliseconds, Duration.ZERO, (-1).seconds, -Duration.INFINITE)) {
            assertNull(mine.tryAcquire(2, timeout))
        }
        assertEquals(1, mine.availablePermits)
        held.close()
        mine.tryAcquire(3, Duration.INFINITE)?.close() ?: error("not acquired")
        assertNotNull(others.tryAcquire(3, Duration.ZERO))
    }

    @Test
    fun acquireBlocking_withATimeout_endsByIt() {
        val held = others.acquireBlocking(2)
        for (timeout in listOf(JavaDuration.ofMillis(30), JavaDuration.ZERO, JavaDuration.ofSeconds(Long.MIN_VALUE))) {
            assertNull(mine.acquireBlocking(2, timeout))
        }
        held.close()
        mine.acquireBlocking(3, JavaDuration.ofSeconds(Long.MAX_VALUE))?.close() ?: error("not acquired")
        assertNotNull(others.acquireBlocking(3, JavaDuration.ZERO))
    }

    @Test
    fun acquireBlocking_ofInterruptedThreads_throwsAndHoldsNothing() {
        val held = others.acquireBlocking(3)
        val failures = List(2) { CompletableFuture<Throwable>() }
        val threads = failures.map { thread { it.complete(runCatching { mine.acquireBlocking() }.exceptionOrNull()) } }
        while (mine.core.waiting < 1) Thread.onSpinWait()
        threads.forEach { it.interrupt() }
        failures.forEach { assertTrue(it.get() is InterruptedException) }
        held.close()
        assertNotNull(mine.tryAcquire(3))
    }

    @Test
    fun regionClose_whileItHolds_returnsItsPermits() = runBlocking {
        val held = mine.acquire(2)
        val one = others.acquire()
        val waiter = async(Dispatchers.Default) { others.acquire(2) }
        here.close()
        withTimeout(2.minutes) { waiter.await() }.close()
        held.close()
        assertEquals(2, others.availablePermits)
        one.close()
        assertEquals(3, others.availablePermits)
        for (call in listOf({ mine.availablePermits }, { mine.tryAcquire() }, { mine.acquireBlocking() })) {
            assertThrows<SharedRegionException> { call() }
        }
    }

    @Test
    fun regionClose_whileCallersWait_failsThem() = runBlocking {
        val held = others.acquire(3)
        val semaphore = mine
        supervisorScope {
            val waiters = List(3) { async(Dispatchers.Default) { semaphore.acquire() } }
            while (semaphore.core.waiting < 2) delay(1)
            here.close()
            for (waiter in waiters) assertThrows<SharedRegionException> {
                runBlocking { withTimeout(2.minutes) { waiter.await() } }
            }
        }
        held.close()
        assertEquals(3, others.availablePermits)
    }

    @Test
    fun slot_ofAClosedRegion_givesItsSuccessorNoPermits() {
        val held = mine.acquireBlocking(2)
        here.close()
        here = SharedRegion.open(path)
        assertTrue("slot 1," in "$here", "$here")
        val next = mine.acquireBlocking(3)
        held.close()
        assertEquals(0, others.availablePermits)
        next.close()
        assertEquals(3, others.availablePermits)
    }

    @Test
    fun file_thatIsRemoved_failsEveryCall() = runBlocking {
        val held = mine.acquire(3)
        val semaphore = mine
        supervisorScope {
            val waiter = async(Dispatchers.Default) { semaphore.acquire() }
            Files.delete(path)
            assertThrows<SharedRegionException> { runBlocking { withTimeout(2.minutes) { waiter.await() } } }
        }
        assertThrows<SharedRegionException> { held.close() }
        held.close()
    }

    @Test
    fun storm_ofCancelsAndTimeouts_losesNoPermit() = runBlocking {
        val inside = AtomicInteger()
        coroutineScope {
            repeat(300) { index ->
                launch(Dispatchers.Default) {
                    val semaphore = if (index % 2 == 0) mine else others
                    val permits = 1 + index % 3
                    withTimeoutOrNull((1 + index % 50).milliseconds) {
                        semaphore.acquire(permits).use {
                            assertTrue(inside.addAndGet(permits) <= 3)
                            inside.addAndGet(-permits)
                            delay(1)
                        }
                    }
                }
            }
        }
        assertEquals(3, mine.availablePermits)
        withTimeout(2.minutes) { others.acquire(3) }.close()
    }

    @Test
    fun withPermit_thatThrows_returnsThePermit() = runBlocking {
        assertThrows<IllegalStateException> { runBlocking { mine.withPermit { error("block") } } }
        assertEquals(2, mine.withPermit { others.availablePermits })
        assertEquals(3, others.availablePermits)
    }

    @Test
    fun withPermit_withATimeout_throwsARefusalIfNoneIsFreeInTime() = runBlocking {
        val permits = others.acquire(3)
        for (timeout in listOf((-1).seconds, Duration.ZERO, 5.milliseconds)) {
            val late =
                assertThrows<PermitTimeoutException> {
                    runBlocking { mine.withPermit(timeout) { error("must not run") } }
                }
            assertEquals("no permit within $timeout from $mine", late.message)
        }
        permits.close()
        assertEquals(2, mine.withPermit(Duration.ZERO) { others.availablePermits })
        assertEquals(3, others.availablePermits)
    }

    @Test
    fun toString_namesThePermitsAndTheFile() {
        val permit = mine.acquireBlocking(2)
        val label = "SharedSemaphore 's' of ${path.toRealPath()}"
        val me = ProcessHandle.current().pid()
        assertEquals("$label (permits = 3, available = 1, holders = {$me=2})", "$others")
        assertEquals("SharedPermit of $label (2, held)", "$permit")
        permit.close()
        assertEquals("SharedPermit of $label (2, closed)", "$permit")
        assertEquals("$label (permits = 3, available = 3)", "$others")
    }

    @Test
    fun holders_ofTwoMembersOfAProcess_areOneSum_untilTheirClose() {
        val me = ProcessHandle.current().pid()
        assertEquals(emptyMap<Long, Int>(), mine.holders())
        val two = mine.acquireBlocking(2)
        others.acquireBlocking()
        assertEquals(mapOf(me to 3), mine.holders())
        two.close()
        assertEquals(mapOf(me to 1), mine.holders())
        there.close() // as a death: the permit comes back
        assertEquals(emptyMap<Long, Int>(), mine.holders())
        assertThrows<SharedRegionException> { others.holders() }
    }
}
