package baton.sync

import baton.runBlockingOfAnyKotlinx
import kotlin.coroutines.CoroutineContext
import kotlin.time.Duration.Companion.milliseconds
import kotlinx.coroutines.CompletableDeferred
import kotlinx.coroutines.CoroutineDispatcher
import kotlinx.coroutines.CoroutineStart
import kotlinx.coroutines.Dispatchers
import kotlinx.coroutines.Runnable
import kotlinx.coroutines.channels.Channel
import kotlinx.coroutines.launch
import kotlinx.coroutines.selects.onTimeout
import kotlinx.coroutines.selects.select
import kotlinx.coroutines.selects.selectUnbiased
import kotlinx.coroutines.yield
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertThrows
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.api.Test

/** Our clauses in kotlinx's select. */
class ClauseKotlinxProbe {
    private val semaphore = Semaphore(1, acquired = 1)
    private val mutex = Mutex(locked = true)
    private val channel = Channel<String>()

    private fun assertNoWaiters() {
        assertEquals(0, semaphore.waiting)
        assertEquals(0, mutex.waiting)
    }

    @Test
    fun clause_thatIsFree_winsAtOnce() = runBlockingOfAnyKotlinx {
        semaphore.release()
        assertEquals(
            "s",
            select {
                semaphore.onAcquire(1) { "s" }
                channel.onReceive { it }
            },
        )
        assertEquals(0, semaphore.availablePermits)
        mutex.unlock()
        assertEquals(
            "m",
            selectUnbiased {
                channel.onReceive { it }
                mutex.onLock(null) { "m" }
            },
        )
        assertTrue(mutex.isLocked)
    }

    @Test
    fun clause_thatWaits_winsWhenGranted() = runBlockingOfAnyKotlinx {
        launch {
            yield()
            semaphore.release()
        }
        assertEquals(
            "s",
            selectUnbiased {
                semaphore.onAcquire(1) { "s" }
                mutex.onLock(null) { "m" }
            },
        )
        assertEquals(0, semaphore.availablePermits)
        assertNoWaiters()
    }

    @Test
    fun clause_thatLosesToAChannel_leavesTheQueue() = runBlockingOfAnyKotlinx {
        launch {
            yield()
            channel.send("c")
        }
        assertEquals(
            "c",
            select {
                semaphore.onAcquire(1) { "s" }
                channel.onReceive { it }
            },
        )
        assertNoWaiters()
        semaphore.release()
        assertEquals(1, semaphore.availablePermits)
    }

    @Test
    fun clause_thatLosesToATimeoutOrAJob_leavesTheQueue() = runBlockingOfAnyKotlinx {
        assertEquals(
            "t",
            select {
                mutex.onLock(null) { "m" }
                onTimeout(5.milliseconds) { "t" }
            },
        )
        val job = launch { yield() }
        assertEquals(
            "j",
            select {
                mutex.onLock(null) { "m" }
                semaphore.onAcquire(1) { "s" }
                job.onJoin { "j" }
            },
        )
        assertNoWaiters()
    }

    @Test
    fun clause_thatLosesToOneRegisteredAfterIt_holdsNothing() = runBlockingOfAnyKotlinx {
        val done = CompletableDeferred("d")
        assertEquals(
            "d",
            select {
                semaphore.onAcquire(1) { "s" }
                done.onAwait { it }
            },
        )
        assertNoWaiters()
        semaphore.release()
        assertEquals(1, semaphore.availablePermits)
    }

    @Test
    fun selectCancelledWhileItWaits_leavesTheQueue() = runBlockingOfAnyKotlinx {
        val waiter = launch(start = CoroutineStart.UNDISPATCHED) { select { semaphore.onAcquire(1) {} } }
        assertEquals(1, semaphore.waiting)
        waiter.cancel(null)
        assertNoWaiters()
    }

    @Test
    fun selectCancelledAfterItWasGrantedAndBeforeItRuns_passesTheGrantOn() = runBlockingOfAnyKotlinx {
        val first = launch(start = CoroutineStart.UNDISPATCHED) { select { semaphore.onAcquire(1) { error("ran") } } }
        val second = launch(start = CoroutineStart.UNDISPATCHED) { select { semaphore.onAcquire(1) {} } }
        semaphore.release()
        assertEquals(1, semaphore.waiting)
        first.cancel(null)
        first.join()
        second.join()
        assertNoWaiters()
        assertEquals(0, semaphore.availablePermits)
    }

    /** A grant that comes while the select still registers its other clauses makes kotlinx register ours again. */
    @Test
    fun grantDuringRegistration_isNotLost() {
        repeat(2_000) {
            val semaphore = Semaphore(1, acquired = 1)
            runBlockingOfAnyKotlinx(Dispatchers.Default) {
                launch { semaphore.release() }
                assertEquals(
                    "s",
                    select {
                        semaphore.onAcquire(1) { "s" }
                        channel.onReceive { it }
                    },
                )
            }
            assertEquals(0, semaphore.availablePermits)
            assertEquals(0, semaphore.waiting)
        }
    }

    @Test
    fun refusedRequest_isThrownFromTheSelect_andLeavesNoWaiter() {
        assertThrows(IllegalArgumentException::class.java) {
            runBlockingOfAnyKotlinx {
                select {
                    mutex.onLock(null) {}
                    semaphore.onAcquire(2) {}
                }
            }
        }
        assertNoWaiters()
        semaphore.close()
        assertThrows(SemaphoreClosedException::class.java) {
            runBlockingOfAnyKotlinx { select { semaphore.onAcquire(1) {} } }
        }
    }

    @Test
    fun select_onADispatcherThatRunsLater_holdsThePermitMeanwhile() {
        val late =
            object : CoroutineDispatcher() {
                val queue = ArrayDeque<Runnable>()

                override fun dispatch(context: CoroutineContext, block: Runnable) {
                    queue.addLast(block)
                }
            }
        runBlockingOfAnyKotlinx {
            val waiter = launch(late) { select { semaphore.onAcquire(1) { it.release() } } }
            late.queue.removeFirst().run()
            semaphore.release()
            assertEquals(0, semaphore.availablePermits)
            late.queue.removeFirst().run()
            waiter.join()
        }
        assertEquals(1, semaphore.availablePermits)
    }
}
