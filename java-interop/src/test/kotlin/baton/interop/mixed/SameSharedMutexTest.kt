package baton.interop.mixed

import baton.interop.AsyncSharedRegion
import baton.interop.blocking.BlockedCall
import baton.shared.SharedLock
import java.nio.file.Path
import java.time.Duration
import java.util.concurrent.CompletableFuture
import java.util.concurrent.CopyOnWriteArrayList
import java.util.concurrent.TimeUnit
import kotlinx.coroutines.CoroutineScope
import kotlinx.coroutines.Dispatchers
import kotlinx.coroutines.Job
import kotlinx.coroutines.SupervisorJob
import kotlinx.coroutines.cancel
import kotlinx.coroutines.launch
import org.junit.jupiter.api.AfterEach
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.BeforeEach
import org.junit.jupiter.api.Test
import org.junit.jupiter.api.Timeout
import org.junit.jupiter.api.io.TempDir

/** Coroutines, Java futures and blocked threads of one process wait in one queue for a lock between processes. */
@Timeout(300)
class SameSharedMutexTest {
    @TempDir private lateinit var directory: Path
    private lateinit var here: AsyncSharedRegion
    private lateinit var there: AsyncSharedRegion
    private val scope = CoroutineScope(SupervisorJob() + Dispatchers.Unconfined)
    private val served = CopyOnWriteArrayList<Int>()

    @BeforeEach
    fun open() {
        here = AsyncSharedRegion.open(directory.resolve("app"))
        there = AsyncSharedRegion.open(directory.resolve("app"))
    }

    @AfterEach
    fun close() {
        scope.cancel()
        here.close()
        there.close()
    }

    private val java
        get() = here.mutex("m")

    private fun serve(number: Int, lock: SharedLock) = lock.use { served += number }

    private fun coroutine(number: Int): Job = scope.launch { serve(number, here.kotlin().mutex("m").lock()) }

    private fun timedCoroutine(number: Int): Job =
        scope.launch { serve(number, checkNotNull(here.kotlin().mutex("m").tryLock(kotlin.time.Duration.INFINITE))) }

    private fun future(number: Int): CompletableFuture<SharedLock> =
        java.lock().also { future -> future.thenAccept { serve(number, it) } }

    private fun timedFuture(number: Int): CompletableFuture<SharedLock> =
        java.lock(Duration.ofDays(1)).also { future -> future.thenAccept { serve(number, it) } }

    private fun thread(number: Int): BlockedCall<Unit> = BlockedCall.started { serve(number, java.lockBlocking()) }

    /** How many wait behind the one at the head of the queue. */
    private val waiting: Int
        get() = checkNotNull(Regex("waiting = (\\d+)").find("$java")).groupValues[1].toInt()

    private fun awaitWaiting(count: Int) {
        val deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(120)
        while (waiting != count && System.nanoTime() < deadline) Thread.yield()
        assertEquals(count, waiting)
    }

    private fun assertServed(numbers: List<Int>) {
        val deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(120)
        while (served.size < numbers.size && System.nanoTime() < deadline) Thread.yield()
        assertEquals(numbers, served)
    }

    /** All enter the queue, behind [before] others. */
    private fun enqueueAll(before: Int) {
        val kinds = listOf(::coroutine, ::future, ::thread, ::timedCoroutine, ::timedFuture)
        repeat(2 * kinds.size) { number ->
            kinds[number % kinds.size](number)
            awaitWaiting(before + number)
        }
    }

    @Test
    fun lock_heldByAnotherMember_isGrantedInTheOrderOfArrival() {
        val held = there.mutex("m").tryLock().orElseThrow()
        val head = future(-1)
        enqueueAll(before = 1)
        held.close()
        assertServed(listOf(-1) + List(10) { it })
        assertEquals(true, head.isDone)
    }

    @Test
    fun lock_heldByThisProcess_isGrantedInTheOrderOfArrival() {
        val held = java.tryLock().orElseThrow()
        enqueueAll(before = 1)
        held.close()
        assertServed(List(10) { it })
    }

    @Test
    fun withdrawal_ofEachKindAtTheHead_letsTheNextWait() {
        val held = there.mutex("m").tryLock().orElseThrow()
        val heads = listOf(coroutine(0), future(1), thread(2), timedCoroutine(3), timedFuture(4))
        awaitWaiting(4)
        future(5)
        for (head in heads) {
            when (head) {
                is Job -> head.cancel()
                is BlockedCall<*> -> head.thread.interrupt()
                is CompletableFuture<*> -> head.cancel(true)
            }
        }
        awaitWaiting(0)
        held.close()
        assertServed(listOf(5))
    }
}
