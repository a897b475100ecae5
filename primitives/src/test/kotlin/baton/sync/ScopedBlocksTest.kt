package baton.sync

import baton.PermitTimeoutException
import baton.resilience.CircuitBreaker
import baton.resilience.CircuitBreakerConfig
import baton.resilience.SlidingWindow
import baton.waiting.Caller
import baton.waiting.Callers
import kotlin.coroutines.cancellation.CancellationException
import kotlin.time.Duration
import kotlin.time.Duration.Companion.hours
import kotlin.time.Duration.Companion.milliseconds
import kotlin.time.Duration.Companion.seconds
import kotlinx.coroutines.awaitCancellation
import kotlinx.coroutines.delay
import kotlinx.coroutines.launch
import kotlinx.coroutines.test.TestScope
import kotlinx.coroutines.test.advanceUntilIdle
import kotlinx.coroutines.test.currentTime
import kotlinx.coroutines.test.runCurrent
import kotlinx.coroutines.test.runTest
import kotlinx.coroutines.withTimeout
import kotlinx.coroutines.withTimeoutOrNull
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertNotEquals
import org.junit.jupiter.api.Assertions.assertNull
import org.junit.jupiter.api.Assertions.assertSame
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.api.Assertions.fail
import org.junit.jupiter.api.Tag
import org.junit.jupiter.api.Test
import org.junit.jupiter.api.assertThrows

/** `withPermit`, `withLock` and their like: what they hold is given back however the block ends. */
@Tag("jdk")
class ScopedBlocksTest {
    private val semaphore = Semaphore(5)
    private val mutex = Mutex(name = "account")
    private val lock = ReadWriteLock(name = "cache")

    private val free = "$semaphore, $mutex, $lock"

    private fun state() = "$semaphore, $mutex, $lock"

    /** [within] calls its block inside. */
    private class Scoped(val name: String, val within: suspend (suspend () -> Any?) -> Any?)

    private val all =
        listOf(
            Scoped("withPermit") { block -> semaphore.withPermit { block() } },
            Scoped("withPermits(3)") { block -> semaphore.withPermits(3) { block() } },
            Scoped("withLock") { block -> mutex.withLock { block() } },
            Scoped("withLock(owner)") { block -> mutex.withLock("t1") { block() } },
            Scoped("withRead") { block -> lock.withRead { block() } },
            Scoped("withRead(owner)") { block -> lock.withRead("t1") { block() } },
            Scoped("withWrite") { block -> lock.withWrite { block() } },
            Scoped("withWrite(owner)") { block -> lock.withWrite("t1") { block() } },
        ) + timed(1.hours)

    private fun timed(timeout: Duration) =
        listOf(
            Scoped("withPermit($timeout)") { block -> semaphore.withPermit(timeout) { block() } },
            Scoped("withPermits(3, $timeout)") { block -> semaphore.withPermits(3, timeout) { block() } },
            Scoped("withLock($timeout)") { block -> mutex.withLock(timeout) { block() } },
            Scoped("withLock($timeout, owner)") { block -> mutex.withLock(timeout, "t1") { block() } },
            Scoped("withRead($timeout)") { block -> lock.withRead(timeout) { block() } },
            Scoped("withRead($timeout, owner)") { block -> lock.withRead(timeout, "t1") { block() } },
            Scoped("withWrite($timeout)") { block -> lock.withWrite(timeout) { block() } },
            Scoped("withWrite($timeout, owner)") { block -> lock.withWrite(timeout, "t1") { block() } },
        )

    private fun each(test: suspend TestScope.(Scoped) -> Unit) {
        for (scoped in all) {
            try {
                runTest { test(scoped) }
                assertEquals(free, state())
            } catch (e: Throwable) {
                throw AssertionError("${scoped.name}: $e", e)
            }
        }
    }

    private suspend fun takeAll() {
        semaphore.acquire(5)
        mutex.lock()
        lock.lockWrite()
    }

    private fun giveAllBack() {
        semaphore.release(5)
        mutex.unlock()
        lock.unlockWrite()
    }

    @Test
    fun block_returns_valueIsReturned() = each { scoped ->
        assertNotEquals(free, scoped.within { state() }.also { assertEquals(free, state()) })
    }

    @Test
    fun block_holds_whatItsNameSays() = runTest {
        assertEquals(4, semaphore.withPermit { semaphore.availablePermits })
        assertEquals(2, semaphore.withPermits(3) { semaphore.availablePermits })
        assertEquals("t1", mutex.withLock(owner = "t1") { mutex.holder })
        assertEquals(1, lock.withRead { lock.readers })
        assertEquals(listOf("t1"), lock.withRead("t1") { lock.readHolders })
        assertEquals(true, lock.withWrite { lock.isWriteLocked })
        assertEquals("t1", lock.withWrite(owner = "t1") { lock.writeHolder })
    }

    @Test
    fun block_throws_exceptionIsThrown() = each { scoped ->
        val failure = RuntimeException("from the block")
        assertSame(failure, assertThrows<RuntimeException> { scoped.within { throw failure } })
    }

    @Test
    fun block_isCancelledOrTimesOut_givesBack() = each { scoped ->
        val holder = Callers(this).call { scoped.within { awaitCancellation() } }
        assertNotEquals(free, state())
        holder.cancel()
        runCurrent()
        assertTrue(holder.isCancelled)
        assertEquals(free, state())
        assertNull(withTimeoutOrNull(10) { scoped.within { delay(20) } })
    }

    @Test
    fun block_cancelledWhileWaitingOrBeforeItRan_doesNotRun() = each { scoped ->
        takeAll()
        val taken = state()
        val callers: List<Caller> = List(2) { Callers(this).call { scoped.within { fail<Any>("ran") } } }
        assertNotEquals(taken, state())
        callers[0].cancel()
        assertThrows<CancellationException> { withTimeout(10) { scoped.within { fail<Any>("ran") } } }
        giveAllBack()
        callers[1].cancel()
        runCurrent()
        assertTrue(callers.all { it.isCancelled })
    }

    @Test
    fun block_wouldWaitForItself_doesNotRun() = runTest {
        mutex.withLock("t1") { assertThrows<IllegalStateException> { mutex.withLock("t1") { fail("ran") } } }
        lock.withRead("t1") { assertThrows<IllegalStateException> { lock.withWrite("t1") { fail("ran") } } }
        lock.withWrite("t1") { assertThrows<IllegalStateException> { lock.withRead("t1") { fail("ran") } } }
        assertEquals(free, state())
    }

    @Test
    fun blocks_inline_allowNonLocalReturnBreakContinueAndAssignment() = runTest {
        assertEquals("found", findsInside())
        for (i in 1..3) {
            semaphore.withPermit {
                if (i == 1) continue
                if (i == 2) break
            }
        }
        val inPermit: Int
        val inLock: Int
        val read: Int
        val written: Int
        semaphore.withPermit { inPermit = 1 }
        mutex.withLock { inLock = 1 }
        lock.withRead { read = 1 }
        lock.withWrite { written = 1 }
        assertEquals(4, inPermit + inLock + read + written)
        assertEquals(free, state())
    }

    private suspend fun findsInside(): String {
        semaphore.withPermit {
            semaphore.withPermits(2) {
                mutex.withLock(owner = "t1") {
                    lock.withRead { if (lock.readers == 2) return "read" }
                    lock.withWrite(owner = "t1") { if (semaphore.availablePermits == 2) return "found" }
                }
            }
        }
        return "not found"
    }

    @Test
    fun block_notGrantedInTime_doesNotRunAndNothingIsHeld() = runTest {
        takeAll()
        val taken = state()
        for (timeout in listOf(-Duration.INFINITE, (-1).seconds, Duration.ZERO, 50.milliseconds)) {
            for (scoped in timed(timeout)) {
                val start = currentTime
                val late = assertThrows<PermitTimeoutException>(scoped.name) { scoped.within { fail<Any>("ran") } }
                val what =
                    when {
                        "withPermits" in scoped.name -> "no 3 permits within $timeout from $semaphore"
                        "withPermit" in scoped.name -> "no permit within $timeout from $semaphore"
                        "withLock" in scoped.name -> "not locked within $timeout: $mutex"
                        "withRead" in scoped.name -> "not locked to read within $timeout: $lock"
                        else -> "not locked to write within $timeout: $lock"
                    }
                assertEquals(what, late.message)
                assertEquals(maxOf(timeout.inWholeMilliseconds, 0), currentTime - start)
                assertEquals(taken, state())
            }
        }
        giveAllBack()
        for (scoped in timed(-1.seconds)) assertEquals("free", scoped.within { "free" }, scoped.name)
        assertEquals(free, state())
    }

    @Test
    fun block_grantedInTime_mayTakeLonger() = runTest {
        for (scoped in timed(50.milliseconds)) {
            takeAll()
            val call = Callers(this).call { scoped.within { delay(1.hours) } }
            delay(49)
            giveAllBack()
            delay(2.hours)
            assertTrue(call.isServed, scoped.name)
            assertEquals(free, state())
        }
    }

    @Test
    fun withRead_granted_holdsWithItsOwnerAndBesideOthers() = runTest {
        val seen = lock.withRead(1.seconds, "t1") { lock.withRead(1.seconds) { "${lock.readHolders} ${lock.readers}" } }
        assertEquals("[t1] 2", seen)
        assertEquals("t1", mutex.withLock(1.seconds, owner = "t1") { mutex.holder })
        assertEquals("t1", lock.withWrite(1.seconds, owner = "t1") { lock.writeHolder })
    }

    @Test
    fun withLock_aDuration_isTheTimeoutAndNeverTheOwner() = runTest {
        assertEquals(null, mutex.withLock(50.milliseconds) { mutex.holder })
        assertEquals(listOf<Any>(), lock.withRead(50.milliseconds) { lock.readHolders })
        assertEquals(null, lock.withWrite(50.milliseconds) { lock.writeHolder })
        val fromAConfig: Duration? = 50.milliseconds
        val calls: List<suspend () -> Any?> =
            listOf(
                { mutex.withLock(fromAConfig) { fail("ran") } },
                { mutex.lock(50.milliseconds) },
                { mutex.tryLock(1.seconds, owner = fromAConfig) },
                { lock.withRead(fromAConfig) { fail("ran") } },
                { lock.withRead(1.seconds, fromAConfig) { fail("ran") } },
                { lock.lockRead(50.milliseconds) },
                { lock.tryLockRead(1.seconds, fromAConfig) },
                { lock.withWrite(fromAConfig) { fail("ran") } },
                { lock.lockWrite(50.milliseconds) },
                { lock.lockUpgradable(50.milliseconds) },
            )
        for (call in calls) {
            val refusal = assertThrows<IllegalArgumentException> { call() }.message.orEmpty()
            assertTrue(refusal.startsWith("owner = 50ms, must not be a Duration"), refusal)
        }
        assertEquals(free, state())
    }

    @Test
    fun breaker_aroundABlockThatIsNotGrantedInTime_countsNothing() = runTest {
        takeAll()
        val breaker = CircuitBreaker(CircuitBreakerConfig(window = SlidingWindow.Calls(1), minimumCalls = 1))
        for (scoped in timed(1.milliseconds)) {
            assertThrows<PermitTimeoutException> { breaker.protect { scoped.within { fail<Any>("ran") } } }
        }
        assertEquals("CLOSED 0", "${breaker.state} ${breaker.metrics.calls}")
    }

    @Test
    fun drain_permits_takesThoseThatAreFreeUnlessOthersWait() = runTest {
        assertEquals(5, semaphore.drain())
        assertEquals(0, semaphore.drain())
        semaphore.release(3)
        val waiter = Callers(this).call { semaphore.acquire(4) }
        assertEquals(0, semaphore.drain())
        assertState(semaphore, available = 3, waiting = 1)
        waiter.cancel()
        assertEquals(3, semaphore.drain())
        semaphore.resize(2)
        assertEquals(0, semaphore.drain())
        semaphore.release(4)
        assertEquals(1, semaphore.drain())
        semaphore.release(2)
        assertEquals(2, semaphore.drain().also { semaphore.release(it) })
        assertEquals(0, Semaphore(0).drain())
        val unfair = Semaphore(2, acquired = 1, order = WaitOrder.UNFAIR)
        Callers(this).call { unfair.acquire(2) }
        assertEquals(1, unfair.drain())
        semaphore.close()
        assertThrows<SemaphoreClosedException> { semaphore.drain() }
        assertState(semaphore, available = 2)
    }

    @Test
    fun withPermits_impossibleNumberOrClosed_blockDoesNotRun() = runTest {
        for (n in listOf(Int.MIN_VALUE, -1, 0, 6, Int.MAX_VALUE)) {
            assertThrows<IllegalArgumentException> { semaphore.withPermits(n) { fail("ran") } }
            assertThrows<IllegalArgumentException> { semaphore.withPermits(n, 1.seconds) { fail("ran") } }
        }
        assertEquals(free, state())
        semaphore.withPermits(4) { semaphore.resize(2) }
        assertState(semaphore, available = 2)
        semaphore.withPermit { semaphore.close() }
        assertState(semaphore, available = 2)
        semaphore.awaitIdle()
        assertThrows<SemaphoreClosedException> { semaphore.withPermit { fail("ran") } }
        assertThrows<SemaphoreClosedException> { semaphore.withPermit(1.seconds) { fail("ran") } }
    }

    @Test
    fun withLock_manyCoroutinesThatSuspendInside_excludeEachOther() = runTest {
        var inside = 0
        repeat(100) {
            launch {
                mutex.withLock {
                    assertEquals(1, ++inside)
                    delay(10)
                    inside--
                }
            }
        }
        advanceUntilIdle()
        assertEquals(1000, currentTime)
    }

    @Test
    fun withReadAndWithWrite_manyThatSuspendInside_writersExcludeAllAndReadersOnlyWriters() = runTest {
        for (policy in ReadWritePolicy.entries) {
            val lock = ReadWriteLock(policy)
            val start = currentTime
            var readers = 0
            var writers = 0
            repeat(100) { i ->
                launch {
                    if (i % 10 == 0) {
                        lock.withWrite {
                            assertEquals("0 1", "$readers ${++writers}")
                            delay(10)
                            writers--
                        }
                    } else {
                        lock.withRead {
                            readers++
                            assertEquals(0, writers)
                            delay(10)
                            readers--
                        }
                    }
                }
            }
            advanceUntilIdle()
            // Ten writers one by one, and at most as many batches of readers.
            assertTrue(currentTime - start in 110..200) { "$policy: ${currentTime - start}" }
        }
    }
}
