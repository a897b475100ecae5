package baton.shared

import baton.sync.BarrierBrokenException
import baton.sync.BarrierTimeoutException
import java.nio.channels.FileChannel
import java.nio.file.StandardOpenOption
import java.time.Duration
import java.util.concurrent.CompletableFuture
import java.util.concurrent.ExecutionException
import java.util.concurrent.TimeUnit
import kotlin.concurrent.thread
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertFalse
import org.junit.jupiter.api.Assertions.assertInstanceOf
import org.junit.jupiter.api.Assertions.assertNull
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.api.Tag
import org.junit.jupiter.api.Test
import org.junit.jupiter.api.Timeout
import org.junit.jupiter.api.assertThrows

/** The calls that block a thread, of the primitives whose other tests wait in coroutines. */
@Tag("jdk")
@Timeout(300)
class SharedBlockingTest : TwoMembers() {
    private val mutex: SharedMutex
        get() = here.mutex("m")

    private val othersMutex: SharedMutex
        get() = there.mutex("m")

    private val condition: SharedCondition
        get() = mutex.condition("c")

    private val barrier: SharedBarrier
        get() = here.barrier("b", parties = 2)

    private val othersBarrier: SharedBarrier
        get() = there.barrier("b", parties = 2)

    private val group: SharedWaitGroup
        get() = here.waitGroup("g")

    private class Call<T>(private val thread: Thread, private val result: CompletableFuture<T>) {
        fun result(): T = result.get(120, TimeUnit.SECONDS)

        fun failure(): Throwable? = assertThrows<ExecutionException> { result() }.cause

        fun interrupt() = thread.interrupt()
    }

    private fun <T> call(action: () -> T): Call<T> {
        val result = CompletableFuture<T>()
        val thread =
            thread(isDaemon = true) { runCatching(action).fold(result::complete, result::completeExceptionally) }
        return Call(thread, result)
    }

    /** Starts a waiter of [condition], which has released the mutex when this returns. */
    private fun <T> waiter(action: (SharedLock) -> T): Call<T> {
        val isLocked = CompletableFuture<Unit>()
        val call = call {
            mutex.lockBlocking().use { lock ->
                isLocked.complete(Unit)
                action(lock)
            }
        }
        isLocked.get(120, TimeUnit.SECONDS)
        othersMutex.lockBlocking().close()
        return call
    }

    private fun signal() = othersMutex.lockBlocking().use { othersMutex.condition("c").signal() }

    @Test
    fun condition_signalled_isHeldAgain() {
        val waiter = waiter { lock ->
            condition.awaitBlocking(lock)
            othersMutex.tryLock() == null
        }
        signal()
        assertTrue(waiter.result())
        othersMutex.tryLock()!!.close()
    }

    @Test
    fun condition_withATimeout_returnsWhetherSignalled() {
        val late = waiter { condition.awaitBlocking(it, Duration.ofMillis(1)) }
        assertFalse(late.result())
        val inTime = waiter { condition.awaitBlocking(it, Duration.ofDays(365_000)) }
        signal()
        assertTrue(inTime.result())
        mutex.lockBlocking().use { lock ->
            for (timeout in listOf(0L, -1L, Long.MIN_VALUE)) {
                assertFalse(condition.awaitBlocking(lock, Duration.ofSeconds(timeout)))
            }
        }
    }

    @Test
    fun condition_interrupted_isHeldWhenItThrows() {
        var isHeld = false
        val waiter = waiter { lock ->
            try {
                condition.awaitBlocking(lock)
            } finally {
                isHeld = othersMutex.tryLock() == null
            }
        }
        val lock = othersMutex.lockBlocking()
        waiter.interrupt()
        lock.close()
        assertInstanceOf(InterruptedException::class.java, waiter.failure())
        assertTrue(isHeld)
        othersMutex.tryLock()!!.close()
    }

    @Test
    fun condition_interruptedWhileItWaitsForTheMutex_staysInterrupted() {
        val waiter = waiter { lock ->
            condition.awaitBlocking(lock)
            Thread.interrupted()
        }
        othersMutex.lockBlocking().use {
            othersMutex.condition("c").signal()
            assertNull(mutex.lockBlocking(Duration.ofMillis(20)), "the waiter looks for the signal meanwhile")
            waiter.interrupt()
        }
        // The interrupt met the wait for the signal or that for the mutex.
        val result = runCatching { waiter.result() }
        result.onSuccess { assertTrue(it) }
        result.onFailure { assertInstanceOf(InterruptedException::class.java, it.cause) }
        othersMutex.tryLock()!!.close()
    }

    @Test
    fun condition_whoseRegionEnds_closesTheLock() {
        lateinit var lockOfWaiter: SharedLock
        val waiter = waiter { lock ->
            lockOfWaiter = lock
            condition.awaitBlocking(lock)
        }
        here.close()
        assertInstanceOf(SharedRegionException::class.java, waiter.failure())
        assertTrue("closed" in "$lockOfWaiter")
        othersMutex.tryLock()!!.use { assertFalse(it.abandoned) }
    }

    @Test
    fun barrier_whoseLastPartyArrives_releasesTheThread() {
        val first = call { barrier.arriveBlocking() }
        assertEquals(setOf(0, 1), setOf(othersBarrier.arriveBlocking(), first.result()))
    }

    @Test
    fun barrier_withATimeout_breaksByIt() {
        assertThrows<BarrierTimeoutException> { barrier.arriveBlocking(Duration.ofMillis(10)) }
        assertThrows<BarrierBrokenException> { othersBarrier.arriveBlocking() }
        othersBarrier.reset()
        assertThrows<BarrierTimeoutException> { barrier.arriveBlocking(Duration.ZERO) }
        assertTrue(othersBarrier.isBroken)
        barrier.reset()
        val first = call { barrier.arriveBlocking(Duration.ofDays(365_000)) }
        othersBarrier.arriveBlocking(Duration.ofMinutes(2))
        first.result()
    }

    @Test
    fun barrier_interrupted_breaks() {
        val first = call { barrier.arriveBlocking() }
        while ("arrived = 0" in "$othersBarrier") Thread.onSpinWait()
        first.interrupt()
        assertInstanceOf(InterruptedException::class.java, first.failure())
        assertTrue(othersBarrier.isBroken)
    }

    @Test
    fun call_ofAnInterruptedThread_throwsAndChangesNothing() {
        group.add()
        val lock = mutex.lockBlocking()
        val token = lock.fencingToken
        for (call in
            listOf({ barrier.arriveBlocking() }, { group.awaitBlocking() }, { condition.awaitBlocking(lock) })) {
            Thread.currentThread().interrupt()
            assertThrows<InterruptedException> { call() }
            assertFalse(Thread.interrupted())
        }
        assertTrue("arrived = 0" in "$barrier")
        assertEquals(token, lock.fencingToken)
    }

    @Test
    fun waitGroup_whoseWorkIsDone_releasesTheThread() {
        group.add(2)
        val waiter = call { group.awaitBlocking() }
        there.waitGroup("g").done()
        assertFalse(group.awaitBlocking(Duration.ofMillis(10)))
        assertFalse(group.awaitBlocking(Duration.ofSeconds(Long.MIN_VALUE)))
        group.done()
        waiter.result()
        assertTrue(group.awaitBlocking(Duration.ZERO))
    }

    @Test
    fun waitGroup_whoseWorkIsLost_throws() {
        there.waitGroup("g").add()
        val waiter = call { group.awaitBlocking(Duration.ofMinutes(2)) }
        there.close()
        assertInstanceOf(AbandonedException::class.java, waiter.failure())
    }

    @Test
    fun close_duringAnAwait_unlocksOrThrows() {
        val end = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(500)
        while (System.nanoTime() < end) {
            val lock = mutex.lockBlocking()
            val waiter = call { runCatching { repeat(100) { condition.awaitBlocking(lock, Duration.ofNanos(1)) } } }
            while (runCatching { lock.close() }.isFailure) Thread.onSpinWait() // Refused while it waits.
            waiter.result()
            assertTrue("closed" in "$lock", "$lock")
            othersMutex.tryLock()!!.close()
        }
    }

    @Test
    fun calls_afterTheFileWasCut_throwTheEndOfTheRegion() {
        val group = group
        val semaphore = here.semaphore("s", permits = 1)
        val lock = mutex.lockBlocking()
        there.close() // It does not look at the file before it writes.
        FileChannel.open(path, StandardOpenOption.WRITE).use { it.truncate(0) }
        assertThrows<SharedRegionException> { here.bytes("looks at the file", size = 1) }
        for (call in
            listOf({ group.awaitBlocking() }, { group.awaitBlocking(Duration.ZERO) }, { barrier.arriveBlocking() }) +
                listOf({ condition.awaitBlocking(lock) }, { lock.markConsistent() })) {
            assertThrows<SharedRegionException> { call() }
        }
        for (each in listOf(group, semaphore)) assertTrue("ended" in "$each", "$each")
    }

    @Test
    fun misuse_thatTheEndOfTheRegionCaused_isReportedAsThat() {
        repeat(300) {
            SharedRegion.open(path).use { region ->
                val mutex = region.mutex("ending")
                val lock = mutex.lockBlocking().also(SharedLock::markConsistent)
                val use = call {
                    runCatching { while (true) lock.markConsistent().also { mutex.condition("c").signal() } }
                }
                region.close()
                assertInstanceOf(SharedRegionException::class.java, use.result().exceptionOrNull())
            }
        }
    }
}
