package baton.sync

import baton.Priority
import baton.PriorityElement
import baton.memory.assertCollected
import baton.waiting.holders.Boosts
import java.lang.ref.WeakReference
import kotlin.coroutines.AbstractCoroutineContextElement
import kotlin.coroutines.Continuation
import kotlin.coroutines.ContinuationInterceptor
import kotlin.coroutines.startCoroutine
import kotlinx.coroutines.selects.select
import kotlinx.coroutines.test.runTest
import kotlinx.coroutines.withContext
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertFalse
import org.junit.jupiter.api.Assertions.assertSame
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.api.Tag
import org.junit.jupiter.api.Test

/** The caller's context has elements of the user's own. Their exceptions end the call, which then holds nothing. */
@Tag("jdk")
class FailingContextTest {
    private val failure = IllegalStateException("no")

    private class FailingPriority(private val why: Throwable) : PriorityElement {
        override val level: Priority
            get() = throw why
    }

    /** Intercepts as many continuations as it is [allowed]. */
    private inner class FailingInterceptor(private var allowed: Int) :
        AbstractCoroutineContextElement(ContinuationInterceptor), ContinuationInterceptor {
        override fun <T> interceptContinuation(continuation: Continuation<T>): Continuation<T> =
            if (allowed-- > 0) continuation else throw failure
    }

    /** Returns the exception of [call] in a coroutine whose interceptor fails when it begins to wait. */
    private fun failingToWait(call: suspend () -> Any?): Throwable? {
        var thrown: Throwable? = null
        val body: suspend () -> Unit = { thrown = runCatching { call() }.exceptionOrNull() }
        body.startCoroutine(Continuation(FailingInterceptor(allowed = 1)) { it.getOrThrow() })
        return thrown
    }

    @Test
    fun acquire_priorityElementThrows_holdsNothing() = runTest {
        val semaphore = Semaphore(1, acquired = 1, order = WaitOrder.PRIORITY)
        val thrown = withContext(FailingPriority(failure)) { runCatching { semaphore.acquire() }.exceptionOrNull() }
        assertSame(failure, thrown)
        semaphore.release()
        assertEquals(1, semaphore.availablePermits)
        assertTrue(semaphore.tryAcquire())
    }

    @Test
    fun acquire_interceptorThrows_holdsNothing() {
        val semaphore = Semaphore(1, acquired = 1)
        assertSame(failure, failingToWait { semaphore.acquire() })
        semaphore.release()
        assertEquals(1, semaphore.availablePermits)
        assertTrue(semaphore.tryAcquire())
    }

    /** The job of the caller lives on. */
    @Test
    fun lock_priorityElementThrows_leavesNoHandlerAtTheJob() = runTest {
        withContext(FailingPriority(failure)) {
            Boosts.begin()
            val locked =
                try {
                    List(5) { WeakReference(lockedInVain()) }
                } finally {
                    Boosts.inUse = false
                }
            assertCollected(locked)
        }
    }

    private suspend fun lockedInVain(): Mutex {
        val mutex = Mutex(locked = true)
        assertSame(failure, runCatching { mutex.lock() }.exceptionOrNull())
        return mutex
    }

    @Test
    fun arrive_interceptorThrows_neitherArrivesNorBreaks() {
        val barrier = Barrier(2, BarrierCancellation.BREAK)
        assertSame(failure, failingToWait { barrier.arrive() })
        assertFalse(barrier.isBroken)
        assertEquals(0, barrier.waiting)
    }

    @Test
    fun receive_interceptorThrows_leavesNoWaiter() {
        val channel = baton.channels.Channel<Int>()
        assertSame(failure, failingToWait { channel.receive() })
        assertEquals(0, channel.waiting)
    }

    @Test
    fun select_priorityElementThrows_leavesNoClauseBehind() = runTest {
        for (why in listOf(failure, AssertionError("no"))) {
            val first = Semaphore(2, acquired = 2)
            val failing = Semaphore(2, acquired = 2, order = WaitOrder.PRIORITY)
            val thrown =
                withContext(FailingPriority(why)) {
                    runCatching {
                            select {
                                first.onAcquire(1) {}
                                failing.onAcquire(1) {}
                            }
                        }
                        .exceptionOrNull()
                }
            assertEquals("${why.javaClass} no", "${thrown?.javaClass} ${thrown?.message}")
            assertEquals("0 0", "${first.waiting} ${failing.waiting}")
        }
    }
}
