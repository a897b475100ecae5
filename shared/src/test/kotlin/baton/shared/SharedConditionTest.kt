package baton.shared

import kotlin.time.Duration
import kotlin.time.Duration.Companion.milliseconds
import kotlin.time.Duration.Companion.minutes
import kotlin.time.Duration.Companion.seconds
import kotlinx.coroutines.CompletableDeferred
import kotlinx.coroutines.CoroutineScope
import kotlinx.coroutines.CoroutineStart
import kotlinx.coroutines.Deferred
import kotlinx.coroutines.Dispatchers
import kotlinx.coroutines.async
import kotlinx.coroutines.awaitAll
import kotlinx.coroutines.cancel
import kotlinx.coroutines.cancelAndJoin
import kotlinx.coroutines.coroutineScope
import kotlinx.coroutines.currentCoroutineContext
import kotlinx.coroutines.delay
import kotlinx.coroutines.launch
import kotlinx.coroutines.runBlocking
import kotlinx.coroutines.selects.select
import kotlinx.coroutines.supervisorScope
import kotlinx.coroutines.withTimeout
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertFalse
import org.junit.jupiter.api.Assertions.assertNull
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.api.Tag
import org.junit.jupiter.api.Test
import org.junit.jupiter.api.assertThrows
import org.junit.jupiter.params.ParameterizedTest
import org.junit.jupiter.params.provider.ValueSource

@Tag("jdk")
class SharedConditionTest : TwoMembers() {
    private val mine: SharedMutex
        get() = here.mutex("m")

    private val others: SharedMutex
        get() = there.mutex("m")

    private fun SharedMutex.changed() = condition("changed")

    /** Begins to wait before it returns. */
    private fun CoroutineScope.waiter(mutex: SharedMutex, action: suspend (SharedLock) -> Unit = {}): Deferred<Unit> =
        async(start = CoroutineStart.UNDISPATCHED) {
            mutex.withLock { lock ->
                mutex.changed().await(lock)
                action(lock)
            }
        }

    private fun test(body: suspend CoroutineScope.() -> Unit) = runBlocking { withTimeout(2.minutes, body) }

    @Test
    fun await_releasesTheMutexUntilASignalOfAnotherMember() = test {
        val waiter = waiter(mine) { assertNull(others.tryLock(), "the waiter holds the mutex again") }
        val lock = others.tryLock()!!
        delay(20)
        assertFalse(waiter.isCompleted)
        others.changed().signal()
        delay(20)
        assertFalse(waiter.isCompleted, "the signaller still holds the mutex")
        lock.close()
        waiter.await()
        mine.tryLock()!!.close()
    }

    @Test
    fun signal_letsAtLeastOneOfTheWaitersGoOn() = test {
        val waiters = List(3) { waiter(mine) } + List(3) { waiter(others) }
        others.withLock { others.changed().signal() }
        select { for (waiter in waiters) waiter.onAwait {} }
        others.withLock { others.changed().signalAll() }
        waiters.awaitAll()
    }

    @Test
    fun signalAll_letsAllWaitersOfAllMembersGoOn() = test {
        val waiters = List(5) { waiter(mine) } + List(5) { waiter(others) }
        mine.withLock { mine.changed().signalAll() }
        waiters.awaitAll()
    }

    @Test
    fun signal_beforeTheAwait_isNotKept() = test {
        mine.withLock { lock ->
            mine.changed().signalAll()
            assertFalse(mine.changed().await(lock, 30.milliseconds))
        }
    }

    @Test
    fun await_withTimeout_holdsTheLockEitherWay() = test {
        mine.withLock { lock ->
            assertFalse(mine.changed().await(lock, 10.milliseconds))
            assertNull(others.tryLock())
        }
        val signalled =
            async(start = CoroutineStart.UNDISPATCHED) {
                mine.withLock { lock ->
                    val isSignalled = mine.changed().await(lock, 1.minutes)
                    assertNull(others.tryLock())
                    isSignalled
                }
            }
        others.withLock { others.changed().signal() }
        assertTrue(signalled.await())
        mine.tryLock()!!.close()
    }

    @Test
    fun await_withoutTime_releasesNothing() = test {
        mine.withLock { lock ->
            val token = lock.fencingToken
            for (timeout in listOf(Duration.ZERO, (-1).seconds, -Duration.INFINITE)) {
                assertFalse(mine.changed().await(lock, timeout))
            }
            assertEquals(token, lock.fencingToken)
        }
    }

    @Test
    fun await_thatIsCancelled_holdsTheLockWhenItThrows() = test {
        val isHeldAtTheEnd = CompletableDeferred<Boolean>()
        val waiter =
            launch(start = CoroutineStart.UNDISPATCHED) {
                mine.withLock { lock ->
                    try {
                        mine.changed().await(lock)
                    } finally {
                        isHeldAtTheEnd.complete(others.tryLock() == null)
                    }
                }
            }
        val lock = others.lock()
        waiter.cancel()
        delay(20)
        assertFalse(waiter.isCompleted, "it waits for the mutex before it throws")
        lock.close()
        assertTrue(isHeldAtTheEnd.await())
        waiter.join()
        others.tryLock()!!.close()
    }

    @Test
    fun await_ofACancelledCaller_throwsWithoutReleasing() = test {
        val tokens = CompletableDeferred<Pair<Long, Long>>()
        val caller = launch {
            mine.withLock { lock ->
                val token = lock.fencingToken
                currentCoroutineContext().cancel()
                try {
                    mine.changed().await(lock)
                } finally {
                    tokens.complete(token to lock.fencingToken)
                }
            }
        }
        val (before, after) = tokens.await()
        assertEquals(before, after)
        caller.join()
        mine.tryLock()!!.close()
    }

    @Test
    fun waiter_thatIsCancelledWithItsSignal_losesItForNoOther() = test {
        repeat(50) {
            val leaving = waiter(mine)
            val staying = waiter(others)
            mine.withLock { mine.changed().signal() }
            leaving.cancelAndJoin()
            staying.await()
        }
    }

    @Test
    fun await_givesTheLockANewTokenAndTheMarkOfADeath() = test {
        var tokenBefore = 0L
        val waiter =
            async(start = CoroutineStart.UNDISPATCHED) {
                mine.withLock { lock ->
                    tokenBefore = lock.fencingToken
                    mine.changed().await(lock)
                    lock.fencingToken to lock.abandoned
                }
            }
        val lock = others.lock()
        others.changed().signal()
        val tokenOfTheSignaller = lock.fencingToken
        there.close()
        val (token, isAbandoned) = waiter.await()
        assertTrue(tokenBefore < tokenOfTheSignaller && tokenOfTheSignaller < token)
        assertTrue(isAbandoned)
    }

    @Test
    fun await_keepsTheMarkOfAnAbandonedLock() = test {
        others.lock()
        there.close()
        val lock = mine.lock()
        assertTrue(lock.abandoned)
        val waiter = async(start = CoroutineStart.UNDISPATCHED) { mine.changed().await(lock) }
        mine.lock().use {
            assertTrue(it.abandoned)
            it.markConsistent()
            mine.changed().signalAll()
        }
        waiter.await()
        assertFalse(lock.abandoned)
        lock.close()
    }

    @Test
    fun regionClose_failsTheWaitersAndClosesTheirLocks() = test {
        supervisorScope {
            val locks = ArrayList<SharedLock>()
            val waiters =
                List(3) {
                    async(Dispatchers.Default, CoroutineStart.UNDISPATCHED) {
                        val lock = mine.lock()
                        locks += lock
                        mine.changed().await(lock)
                    }
                }
            here.close()
            for (waiter in waiters) assertThrows<SharedRegionException> { runBlocking { waiter.await() } }
            assertEquals(3, locks.size)
            locks.forEach(SharedLock::close)
            assertTrue(locks.all { "closed" in it.toString() }, "$locks")
        }
        others.tryLock()!!.use { assertFalse(it.abandoned, "a waiter holds nothing that could be abandoned") }
    }

    @Test
    fun lock_thatWaits_canNeitherBeClosedNorMarked() = test {
        val lock = mine.lock()
        val waiter = async(start = CoroutineStart.UNDISPATCHED) { mine.changed().await(lock) }
        for (misuse in listOf(lock::close, lock::markConsistent)) {
            val refusal = assertThrows<IllegalStateException> { misuse() }
            assertEquals("${label()}: this lock waits for a condition", refusal.message)
        }
        assertThrows<IllegalStateException> { runBlocking { mine.changed().await(lock) } }
        assertTrue("(waits for a condition, token 1, abandoned = false)" in "$lock", "$lock")
        others.withLock { others.changed().signal() }
        waiter.await()
        lock.close()
        mine.tryLock()!!.close()
    }

    @Test
    fun await_withALockThatIsNotHeldHere_throwsAndChangesNothing() = test {
        val lock = mine.lock()
        here.mutex("other").lock().use { foreign ->
            val refusal = assertThrows<IllegalArgumentException> { runBlocking { mine.changed().await(foreign) } }
            assertEquals("$foreign, must be a lock of ${label()}", refusal.message)
        }
        assertNull(others.tryLock())
        lock.close()
        for (timeout in listOf(Duration.ZERO, 1.minutes)) {
            val refusal = assertThrows<IllegalStateException> { runBlocking { mine.changed().await(lock, timeout) } }
            assertEquals("${label()}: this lock is closed", refusal.message)
        }
    }

    @Test
    fun signal_withoutTheMutex_throws() = test {
        for (signal in listOf(mine.changed()::signal, mine.changed()::signalAll)) {
            val refusal = assertThrows<IllegalStateException> { signal() }
            val condition = "SharedCondition 'changed' of ${label()}"
            assertEquals("signal of $condition, whose mutex this process does not hold", refusal.message)
            others.withLock { assertThrows<IllegalStateException> { signal() } }
        }
    }

    @Test
    fun condition_isOnePerNameAndMutex() = test {
        val waiter = waiter(mine)
        there.mutex("n").withLock { there.mutex("n").changed().signalAll() }
        others.withLock { others.condition("another").signalAll() }
        delay(20)
        assertFalse(waiter.isCompleted)
        others.withLock { others.changed().signal() }
        waiter.await()
        assertEquals("changed", mine.changed().name)
        assertEquals("SharedCondition 'changed' of ${label()}", "${mine.changed()}")
    }

    @ParameterizedTest
    @ValueSource(ints = [0, 65])
    fun condition_whoseNameIsOutOfRange_isRefused(length: Int) {
        assertThrows<IllegalArgumentException> { mine.condition("x".repeat(length)) }
    }

    @Test
    fun boundedQueue_ofTwoMembers_losesAndDoublesNothing() = test {
        val perProducer = 500
        val received = coroutineScope {
            repeat(4) { producer ->
                launch(Dispatchers.Default) {
                    val queue = SharedQueue(if (producer % 2 == 0) here else there)
                    repeat(perProducer) { queue.put(producer * perProducer + it + 1L) }
                }
            }
            List(4) { consumer ->
                    async(Dispatchers.Default) {
                        val queue = SharedQueue(if (consumer % 2 == 0) here else there)
                        List(perProducer) { queue.take() }
                    }
                }
                .awaitAll()
        }
        assertEquals((1L..4 * perProducer).toList(), received.flatten().sorted())
    }

    private fun label() = "SharedMutex 'm' of ${path.toRealPath()}"
}
