package baton.distributed

import baton.BatonClock
import baton.distributed.rules.LockState
import java.time.Duration
import java.time.Instant
import kotlin.time.Duration.Companion.seconds
import kotlinx.coroutines.CompletableDeferred
import kotlinx.coroutines.Dispatchers
import kotlinx.coroutines.async
import kotlinx.coroutines.currentCoroutineContext
import kotlinx.coroutines.delay
import kotlinx.coroutines.launch
import kotlinx.coroutines.test.runTest
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertFalse
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.api.Test

class LeaseEndTest {
    /** Its timers never fire: those of a JVM that goes on after a stop may be late. */
    private class LateTimers : BatonClock {
        var nanos = 0L

        override fun nanoTime() = nanos

        override fun instant(): Instant = Instant.EPOCH.plusNanos(nanos)

        override fun schedule(delay: Duration, task: Runnable) = AutoCloseable {}
    }

    /** Without a caller there is no release that would give it back. */
    @Test
    fun permit_grantedAsItsCallerIsCancelled_goesBackAtOnce() = runTest {
        val store = InMemoryStore()
        val clusters = List(2) { Cluster.open(store, lease = 10.seconds, context = currentCoroutineContext()) }
        val mutexes = clusters.map { it.mutex("account", keep = false) }
        val held = mutexes[0].lock()
        val waiter = launch { mutexes[1].lock() }
        delay(1.seconds)
        held.release()
        waiter.cancel()
        delay(1.seconds)
        val document = store.read("baton:mutex:account").toCompletableFuture().get().orElseThrow()
        assertEquals(emptyList<Any>(), LockState.parse(document.text()).let { it.shares() + it.queue() })
        clusters.forEach { it.close() }
    }

    /** The answer to a request may be there when a JVM goes on: then its block ends before the loss is noticed. */
    @Test
    fun withLock_ofABlockThatEndsAfterItsLease_throws() = runTest {
        val clock = LateTimers()
        Cluster.open(InMemoryStore(), lease = 10.seconds, clock = clock, context = currentCoroutineContext()).use {
            val end = runCatching { it.mutex("account").withLock { clock.nanos += 9.seconds.inWholeNanoseconds } }
            assertTrue(end.exceptionOrNull() is LeaseLostException, "$end")
        }
    }

    /** Of several leases one is told of the loss first. */
    @Test
    fun withPermit_ofABlockThatEndsWhileTheLossIsTold_throws() = runTest {
        val clock = LateTimers()
        Cluster.open(InMemoryStore(), lease = 10.seconds, clock = clock, context = currentCoroutineContext()).use {
            val semaphore = it.semaphore("uplink", permits = 2)
            val first = semaphore.acquire()
            val isTold = CompletableDeferred<Unit>()
            first.onLost { isTold.complete(Unit) }
            val end = async(Dispatchers.Unconfined) { runCatching { semaphore.withPermit { isTold.await() } } }
            delay(1.seconds)
            clock.nanos += 9.seconds.inWholeNanoseconds
            assertFalse(first.isHeld)
            assertTrue(end.await().exceptionOrNull() is LeaseLostException, "${end.await()}")
        }
    }
}
