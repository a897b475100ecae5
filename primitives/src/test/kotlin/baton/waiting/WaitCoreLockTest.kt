package baton.waiting

import baton.reportingTo
import java.util.concurrent.CountDownLatch
import java.util.concurrent.TimeUnit
import kotlin.concurrent.thread
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertNull
import org.junit.jupiter.api.Assertions.assertSame
import org.junit.jupiter.api.Assertions.assertThrows
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.api.Test

class WaitCoreLockTest {
    private val core = FakeCore()

    @Test
    fun lock_underContention_letsInOneThreadAtATime() {
        var count = 0
        val start = CountDownLatch(1)
        val threads =
            List(8) {
                thread {
                    start.await()
                    repeat(20_000) { core.decide { count++ } }
                }
            }
        start.countDown()
        threads.forEach(Thread::join)
        assertEquals(160_000, count)
    }

    @Test
    fun lock_heldForLong_isGotOnceItIsFree() {
        core.lock()
        val waiting = List(3) { thread { core.decide {} } }
        // They look again, yield and in the end pause.
        while (waiting.any { it.state != Thread.State.TIMED_WAITING }) Thread.onSpinWait()
        core.unlock()
        waiting.forEach { it.join(120_000) }
        assertEquals(0, waiting.count { it.isAlive })
    }

    @Test
    fun decision_thatThrows_leavesTheLockFree() {
        assertThrows(IllegalStateException::class.java) { core.decide { error("no") } }
        assertEquals(1, core.decide { 1 })
    }

    @Test
    fun decision_thatThrowsAfterGrants_wakesThem() {
        val waiters = List(2) { FakeWaiter(core, onResume = { core.decide {} }) }
        val exhausted = OutOfMemoryError("Java heap space")
        val thrown =
            assertThrows(OutOfMemoryError::class.java) {
                core.decide {
                    for (waiter in waiters) {
                        check(waiter.tryGrant())
                        core.wake(waiter)
                    }
                    throw exhausted
                }
            }
        assertSame(exhausted, thrown)
        assertEquals(listOf(1, 1), waiters.map { it.resumed })
        assertNull(core.firstToWake)
    }

    @Test
    fun wakeUps_comeAfterTheLock_inTheOrderOfTheDecisions() {
        val order = ArrayList<Int>()
        val waiters =
            List(5) {
                FakeWaiter(
                    core,
                    onResume = {
                        core.decide {} // it would wait for ever if the lock were held
                        order += it
                    },
                )
            }
        core.wakeTogether(waiters)
        assertEquals(List(5) { it }, order)
        assertNull(core.firstToWake)
    }

    /** An Error that left the loop lost the rest of the wake list: those waiters were granted and never resumed. */
    @Test
    fun wakeUp_thatThrowsAnError_isDoneElsewhereAndThoseBehindItAreWoken() {
        val failure = StackOverflowError("no stack")
        val repeated = CountDownLatch(2)
        val first =
            FakeWaiter(
                core,
                onResume = {
                    repeated.countDown()
                    if (repeated.count == 1L) throw failure
                },
            )
        val behind = List(2) { FakeWaiter(core) }
        val reported = ArrayList<Throwable>()
        reportingTo(reported) { core.wakeTogether(listOf(first) + behind) }
        assertEquals(listOf(1, 1), behind.map { it.resumed })
        assertEquals(listOf<Throwable>(failure), reported)
        assertTrue(repeated.await(120, TimeUnit.SECONDS))
    }

    @Test
    fun wokenWaiter_keepsNoOtherAlive() {
        val waiters = List(3) { FakeWaiter(core) }
        core.wakeTogether(waiters)
        for (waiter in waiters) assertNull(waiter.chain)
    }

    @Test
    fun millionGrantsWithoutReceiver_goFromOneToTheNext_withoutStack() {
        val last = FakeWaiter()
        var left = 1_000_000
        lateinit var lossy: FakeCore
        val refills =
            object : Iterator<Waiter> {
                override fun hasNext() = left > 0

                override fun next(): Waiter = if (--left == 0) last else FakeWaiter(lossy, accepts = false)
            }
        lossy = FakeCore(refills)
        lossy.wakeTogether(listOf(FakeWaiter(lossy, accepts = false)))
        assertEquals(1_000_000, lossy.takenBack)
        assertEquals(1, last.resumed)
    }

    @Test
    fun grantWithoutReceiver_letsInTheNextBeforeThoseWokenLater() {
        val order = ArrayList<String>()
        val next = FakeWaiter(onResume = { order += "next" })
        val lossy = FakeCore(listOf<Waiter>(next).iterator())
        lossy.wakeTogether(
            listOf(FakeWaiter(lossy, accepts = false), FakeWaiter(lossy, onResume = { order += "later" }))
        )
        assertEquals(listOf("next", "later"), order)
    }

    @Test
    fun waiter_granted_canNeitherWithdrawNorFail() {
        val waiter = FakeWaiter(core)
        assertEquals(Waiter.PREPARING, waiter.currentState)
        check(waiter.startWaiting())
        waiter.grantQueued()
        assertEquals(Waiter.GRANTED, waiter.withdraw(Waiter.CANCELLED))
        assertEquals(false, waiter.tryFail("late"))
        // Written before the state is tried: a canceller that finds FAILED reads the reason at once.
        assertEquals("late", waiter.outcome)
        assertNull(waiter.request)
        assertEquals(0, core.withdrawn)
    }

    @Test
    fun waiter_withdrawnWhilePreparing_isNotTakenOutOfTheQueue() {
        val waiter = FakeWaiter(core)
        assertEquals(Waiter.PREPARING, waiter.withdraw(Waiter.CANCELLED))
        assertEquals(0, core.withdrawn)
        assertEquals(false, waiter.startWaiting())
        assertEquals(false, waiter.tryGrant())
    }

    @Test
    fun waiter_withdrawnWhileWaiting_isTakenOutOnce() {
        val waiter = FakeWaiter(core)
        waiter.startWaiting()
        assertEquals(Waiter.WAITING, waiter.withdraw(Waiter.TIMED_OUT))
        assertEquals(Waiter.TIMED_OUT, waiter.withdraw(Waiter.CANCELLED))
        assertEquals(1, core.withdrawn)
    }

    /**
     * A decision ran out of stack between the queue and the grant. A canceller must not look for the waiter for ever.
     */
    @Test
    fun waiter_thatItsCoreHasLost_isWithdrawnAllTheSame() {
        val waiter = FakeWaiter(core)
        waiter.startWaiting()
        core.losesWaiters = true
        assertEquals(Waiter.WAITING, waiter.withdraw(Waiter.CANCELLED))
        assertEquals(Waiter.CANCELLED, waiter.currentState)
        assertEquals(0, core.withdrawn)
    }

    @Test
    fun failedWaiter_hearsOfItAndOfTheReason() {
        val waiter = FakeWaiter(core)
        waiter.startWaiting()
        val reason = Any()
        core.decide { waiter.failQueued(reason) }
        assertSame(reason, waiter.outcome)
        waiter.arrive()
        assertEquals(1, waiter.failed)
        assertEquals(0, waiter.resumed)
    }
}
