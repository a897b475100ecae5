package baton.sync.keys

import baton.PermitTimeoutException
import baton.TooManyKeysException
import baton.sync.Mutexes
import kotlin.time.Duration
import kotlin.time.Duration.Companion.milliseconds
import kotlin.time.Duration.Companion.seconds
import kotlinx.coroutines.CompletableDeferred
import kotlinx.coroutines.CoroutineDispatcher
import kotlinx.coroutines.CoroutineStart
import kotlinx.coroutines.ExperimentalCoroutinesApi
import kotlinx.coroutines.Runnable
import kotlinx.coroutines.cancelAndJoin
import kotlinx.coroutines.delay
import kotlinx.coroutines.launch
import kotlinx.coroutines.test.TestScope
import kotlinx.coroutines.test.currentTime
import kotlinx.coroutines.test.runCurrent
import kotlinx.coroutines.test.runTest
import kotlinx.coroutines.withContext
import kotlinx.coroutines.yield
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertFalse
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.api.Test
import org.junit.jupiter.api.assertThrows

@OptIn(ExperimentalCoroutinesApi::class)
class MutexesTest {
    private class AccountId(private val number: Int) {
        override fun equals(other: Any?) = other is AccountId && number == other.number

        /** All collide. */
        override fun hashCode() = 1

        override fun toString() = "account $number"
    }

    private val locks = Mutexes<AccountId>()
    private val a = AccountId(1)
    private val b = AccountId(2)

    private fun TestScope.start(block: suspend () -> Unit) = launch(start = CoroutineStart.UNDISPATCHED) { block() }

    @Test
    fun withLock_ofOneKey_excludes_andOfAnotherDoesNot() = runTest {
        val order = mutableListOf<String>()
        start { locks.withLock(a) { delay(2.seconds).also { order += "a1 $currentTime" } } }
        start { locks.withLock(AccountId(1)) { delay(1.seconds).also { order += "a2 $currentTime" } } }
        start { locks.withLock(b) { delay(1.seconds).also { order += "b $currentTime" } } }
        assertEquals(2, locks.size)
        testScheduler.advanceUntilIdle()
        assertEquals(listOf("b 1000", "a1 2000", "a2 3000"), order)
        assertEquals(0, locks.size)
    }

    @Test
    fun withLock_returnsTheValue_andPassesTheKey() = runTest {
        assertEquals("account 1", locks.withLock(a) { it.toString() })
        assertThrows<IllegalStateException> { locks.withLock(a) { error("failed") } }
        assertThrows<AssertionError> { locks.withLock(a, 1.seconds) { throw AssertionError() } }
        assertEquals(0, locks.size)
    }

    @Test
    fun withLock_timedOut_throwsAndHoldsNothing() = runTest {
        val end = CompletableDeferred<Unit>()
        start { locks.withLock(a) { end.await() } }
        val late = assertThrows<PermitTimeoutException> { locks.withLock(a, 50.milliseconds) { error("ran") } }
        assertEquals("not locked within 50ms: Mutex 'account 1' (locked, waiting = 0)", late.message)
        assertEquals(50, currentTime)
        for (none in listOf(Duration.ZERO, -1.seconds)) {
            assertThrows<PermitTimeoutException> { locks.withLock(a, none) { error("ran") } }
        }
        assertEquals(50, currentTime)
        end.complete(Unit)
        runCurrent()
        assertEquals(0, locks.size)
        assertEquals(1, locks.withLock(a, Duration.ZERO) { 1 })
    }

    @Test
    fun waiterThatIsCancelled_holdsNothing_andForgetsNothingThatOthersUse() = runTest {
        val end = CompletableDeferred<Unit>()
        start { locks.withLock(a) { end.await() } }
        val cancelled = start { locks.withLock(a) { error("ran") } }
        var hasRun = false
        start { locks.withLock(a) { hasRun = true } }
        cancelled.cancelAndJoin()
        assertEquals(1, locks.size)
        end.complete(Unit)
        runCurrent()
        assertTrue(hasRun)
        assertEquals(0, locks.size)
    }

    @Test
    fun lock_handedOverToACallerThatIsThenCancelled_isForgotten() = runTest {
        val end = CompletableDeferred<Unit>()
        start { locks.withLock(a) { end.await() } }
        val next = start { locks.withLock(a) { error("ran") } }
        end.complete(Unit)
        while (locks.size == 1 && next.isActive) {
            yield()
            next.cancel()
        }
        runCurrent()
        assertTrue(next.isCancelled)
        assertEquals(0, locks.size)
    }

    // ---- several keys

    @Test
    fun withLocks_inOppositeOrders_neverDeadlocks_alsoWhenHashesCollide() = runTest {
        var inside = 0
        repeat(50) { i ->
            start {
                val keys = if (i % 2 == 0) listOf(a, b) else listOf(b, a)
                locks.withLocks(keys) {
                    assertEquals(0, inside++)
                    yield()
                    inside--
                }
            }
        }
        testScheduler.advanceUntilIdle()
        assertEquals(0, locks.size)
    }

    /** The mutex of the second key is older here: an order by arguments, or by age of the call, would deadlock. */
    @Test
    fun withLocks_locksTheOlderMutexFirst() = runTest {
        val end = CompletableDeferred<Unit>()
        start { locks.withLock(b) { end.await() } }
        val both = start { locks.withLocks(a, b) {} }
        var isFree = false
        start { locks.withLock(a) { isFree = true } }
        assertTrue(isFree, "a is not locked yet, because b is first")
        end.complete(Unit)
        both.join()
    }

    @Test
    fun withLocks_ofAKeyTwice_locksItOnce() = runTest {
        assertEquals(7, locks.withLocks(a, AccountId(1), b, a) { 7 })
        assertEquals(8, locks.withLocks(emptyList()) { 8 })
        assertEquals(0, locks.size)
    }

    @Test
    fun withLocks_cancelledWhileItHoldsOneOfThem_holdsNone() = runTest {
        val end = CompletableDeferred<Unit>()
        val first = start { locks.withLock(a) { end.await() } }
        val second = start { locks.withLocks(listOf(AccountId(3), a)) { error("ran") } }
        start { locks.withLock(AccountId(3)) {} }
        second.cancelAndJoin()
        runCurrent()
        assertEquals(1, locks.size)
        end.complete(Unit)
        first.join()
        assertEquals(0, locks.size)
    }

    @Test
    fun withLocks_withoutAPlaceForAll_takesNone() = runTest {
        val few = Mutexes<Int>(maxKeys = 2, name = "few")
        val refusal = assertThrows<TooManyKeysException> { few.withLocks(1, 2, 3) { error("ran") } }
        assertEquals("no place for another key, maxKeys = 2 are in use: Mutexes 'few'", refusal.message)
        assertEquals(0, few.size)
        few.withLocks(1, 2) { assertThrows<TooManyKeysException> { few.withLock(3) {} } }
        few.withLock(3) {}
    }

    // ---- hostile

    @Test
    fun dispatcherThatRefuses_leavesNoKeyInUse() = runTest {
        val end = CompletableDeferred<Unit>()
        val refusing =
            object : CoroutineDispatcher() {
                var refuses = false

                override fun dispatch(context: kotlin.coroutines.CoroutineContext, block: Runnable) {
                    if (refuses) throw IllegalStateException("shut down")
                    block.run()
                }
            }
        start { locks.withLock(a) { end.await() } }
        val waiter = start { withContext(refusing) { locks.withLock(a) {} } }
        refusing.refuses = true
        end.complete(Unit)
        runCurrent()
        waiter.cancelAndJoin()
        assertFalse(waiter.isActive)
        var hasRun = false
        start { locks.withLock(a) { hasRun = true } }.join()
        assertTrue(hasRun)
        assertEquals(0, locks.size)
    }

    @Test
    fun arguments_outOfBounds_areRefused() {
        for (maxKeys in listOf(0, -1, Int.MIN_VALUE)) {
            val message = assertThrows<IllegalArgumentException> { Mutexes<Int>(maxKeys) }.message
            assertEquals("maxKeys = $maxKeys, must be at least 1", message)
        }
        assertEquals("Mutexes 'all' (size = 0, maxKeys = 2147483647)", Mutexes<Int>(Int.MAX_VALUE, "all").toString())
    }
}
