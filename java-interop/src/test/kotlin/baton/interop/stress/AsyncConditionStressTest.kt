package baton.interop.stress

import baton.interop.AsyncMutex
import baton.interop.Futures
import baton.interop.Permit
import java.time.Duration
import java.util.concurrent.CompletableFuture
import java.util.concurrent.atomic.AtomicInteger
import kotlin.concurrent.thread
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertFalse
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.api.Tag
import org.junit.jupiter.api.Test
import org.junit.jupiter.api.Timeout

@Tag("any-jdk")
class AsyncConditionStressTest {
    private val mutex = AsyncMutex.create()
    private val condition = mutex.newCondition()

    /** Two threads synchronize at every round: one signals and unlocks, the other ends the future that waits first. */
    private fun races(
        rounds: Int,
        await: (Permit) -> CompletableFuture<Permit>,
        pauseNanos: (Int) -> Int,
        end: (CompletableFuture<Permit>) -> Unit,
    ) {
        val turn = AtomicInteger()
        val signaller =
            thread(isDaemon = true) {
                for (round in 1..rounds) {
                    while (turn.get() != 2 * round - 1) Thread.yield()
                    turn.set(2 * round)
                    Futures.await(mutex.lock()).use { condition.signal() }
                    turn.set(-round)
                }
            }
        for (round in 1..rounds) {
            val victim = await(Futures.await(mutex.lock()))
            val heir = condition.await(Futures.await(mutex.lock()))
            val start = System.nanoTime()
            while (System.nanoTime() - start < pauseNanos(round)) Thread.onSpinWait()
            turn.set(2 * round - 1)
            while (turn.get() == 2 * round - 1) Thread.yield()
            repeat(round % 100) { Thread.onSpinWait() }
            end(victim)
            while (turn.get() != -round) Thread.yield()
            val victimHasIt = Futures.await(victim.handle { permit, _ -> permit?.close() != null })
            assertEquals(victimHasIt, !heir.isDone)
            if (victimHasIt) Futures.await(mutex.lock()).use { condition.signal() }
            Futures.await(heir).close()
            assertEquals(0, condition.waiting())
            assertFalse(mutex.isLocked)
        }
        signaller.join()
    }

    @Test
    @Timeout(300)
    fun cancel_racingWithTheSignal_leavesItToOneOfThem() {
        races(30_000, condition::await, { 0 }) { assertTrue(it.cancel(true) == it.isCancelled) }
    }

    @Test
    @Timeout(300)
    fun timeout_racingWithTheSignal_leavesItToOneOfThem() {
        races(500, { condition.await(it, Duration.ofMillis(1)) }, { 900_000 + it * 1_000 % 400_000 }) {}
    }
}
