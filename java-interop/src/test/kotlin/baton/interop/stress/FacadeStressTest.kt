package baton.interop.stress

import baton.interop.AsyncSemaphore
import baton.interop.Futures
import baton.interop.Permit
import baton.sync.ReadWritePolicy
import baton.sync.WaitOrder
import java.util.concurrent.CompletableFuture
import java.util.concurrent.atomic.AtomicInteger
import java.util.concurrent.atomic.AtomicReference
import kotlin.concurrent.thread
import kotlin.time.Duration.Companion.milliseconds
import kotlin.time.Duration.Companion.seconds
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.api.Tag
import org.junit.jupiter.api.Test
import org.junit.jupiter.api.Timeout
import org.junit.jupiter.params.ParameterizedTest
import org.junit.jupiter.params.provider.EnumSource

@Tag("any-jdk")
open class FacadeStressTest {
    open val time
        get() = 500.milliseconds

    /** Rounds of the races. Two threads wait for each other at every step, which is slow on a loaded machine. */
    open val rounds
        get() = 15_000

    @ParameterizedTest
    @EnumSource
    fun permits_underThreadsThatCancelAtRandom_areNeitherLostNorInvented(order: WaitOrder) {
        var end = System.nanoTime()
        for (permits in listOf(4, 1)) {
            end += time.inWholeNanoseconds
            FacadeStress(permits, order, System.nanoTime()).run(8) { System.nanoTime() < end }
        }
    }

    @ParameterizedTest
    @EnumSource
    fun readWriteLock_underThreadsThatCancelAtRandom_keepsWritersAlone(policy: ReadWritePolicy) {
        val end = System.nanoTime() + time.inWholeNanoseconds
        ReadWriteFacadeStress(policy, System.nanoTime()).run(8) { System.nanoTime() < end }
    }

    @Test
    @Timeout(300)
    fun cancel_racingWithTheGrant_leavesThePermitToOneOfThem() {
        races(rounds) { it.cancel(true) }
    }

    @Test
    @Timeout(300)
    fun complete_racingWithTheGrant_leavesThePermitToOneOfThem() {
        races(rounds / 4) { it.completeExceptionally(IllegalStateException("outside")) }
    }

    /** Two threads synchronize at every round: one releases, the other ends the future that waits. */
    private fun races(rounds: Int, end: (CompletableFuture<Permit>) -> Boolean) {
        val semaphore = AsyncSemaphore.create(1)
        val turn = AtomicInteger()
        val holder = AtomicReference<Permit>()
        val releaser =
            thread(isDaemon = true) {
                for (round in 1..rounds) {
                    while (turn.get() != 2 * round - 1) Thread.yield()
                    turn.set(2 * round)
                    holder.get().close()
                }
            }
        for (round in 1..rounds) {
            holder.set(semaphore.acquire().join())
            val future = semaphore.acquire()
            turn.set(2 * round - 1)
            while (turn.get() != 2 * round) Thread.yield()
            if (round % 3 == 0) repeat(round % 50) { Thread.onSpinWait() }
            val won = end(future)
            assertTrue(future.isDone)
            assertEquals(won, future.isCompletedExceptionally)
            if (!won) future.join().close()
            // The other thread may still be about to release.
            Futures.await(semaphore.awaitIdle())
            assertEquals(1, semaphore.availablePermits())
            assertEquals(0, semaphore.waiting())
        }
        releaser.join()
    }

    @Test
    @Timeout(300)
    fun guardedCall_cancelledWhileItIsGranted_runsOrDoesNotAndGivesBack() {
        val semaphore = AsyncSemaphore.create(1)
        val ran = AtomicInteger()
        for (round in 1..rounds / 4) {
            val holder = semaphore.acquire().join()
            val before = ran.get()
            val call =
                semaphore.withPermit {
                    ran.incrementAndGet()
                    CompletableFuture.completedFuture(round)
                }
            val released = CompletableFuture.runAsync(holder::close)
            repeat(round % 100) { Thread.onSpinWait() }
            val cancelled = call.cancel(true)
            Futures.await(released)
            Futures.await(semaphore.awaitIdle())
            assertEquals(cancelled, call.isCancelled)
            if (!cancelled) assertEquals(before + 1, ran.get())
            assertEquals(1, semaphore.availablePermits())
        }
    }
}

class FacadeStressDeepTest : FacadeStressTest() {
    override val time
        get() = 60.seconds

    override val rounds
        get() = 1_000_000
}
