package baton.scheduler.stress

import baton.resilience.Backoff
import baton.resilience.RetryPolicy
import baton.scheduler.PausedBy
import baton.scheduler.RunOutcome
import baton.scheduler.Schedule
import baton.scheduler.ScheduleConfig
import baton.scheduler.Trigger
import java.io.IOException
import java.time.Instant
import java.util.concurrent.ThreadLocalRandom
import java.util.concurrent.atomic.AtomicInteger
import kotlin.time.Duration
import kotlin.time.Duration.Companion.milliseconds
import kotlin.time.Duration.Companion.minutes
import kotlinx.coroutines.Dispatchers
import kotlinx.coroutines.coroutineScope
import kotlinx.coroutines.delay
import kotlinx.coroutines.launch
import kotlinx.coroutines.runBlocking
import kotlinx.coroutines.withTimeout
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.api.Test

/**
 * Runs that succeed, fail, are tried again, take too long and are cancelled by several threads, all at once: each run
 * has one outcome, and leaves nothing behind.
 */
class RunEndsStressTest {
    private val cancelled = AtomicInteger()
    private val reported = AtomicInteger()

    private val config =
        ScheduleConfig(
            resolution = 1.milliseconds,
            onFailure = { _, _ -> reported.incrementAndGet() },
            runTimeout = { if (it as Int % 3 == 0) 2.milliseconds else Duration.INFINITE },
            retry = { key ->
                val wait = if (key as Int % 4 == 0) Duration.ZERO else 1.milliseconds
                RetryPolicy(maxAttempts = 3, backoff = Backoff.constant(wait), retryIf = { true }).takeIf {
                    key % 2 == 0
                }
            },
        )

    private val schedule =
        Schedule<Int>(maxConcurrency = 20, name = "stress", config = config) {
            val random = ThreadLocalRandom.current()
            if (random.nextBoolean()) delay(random.nextLong(4))
            if (random.nextInt(3) == 0) throw IOException("down")
        }

    @Test
    fun eachRun_hasOneOutcome() =
        runBlocking(Dispatchers.Default) {
            val running = launch { schedule.run() }
            coroutineScope { repeat(THREADS) { thread -> launch { edit(thread until KEYS step THREADS) } } }
            withTimeout(2.minutes) { while (!hasEnded()) delay(10.milliseconds) }
            val metrics = schedule.metrics
            val outcomes = metrics.run { listOf(succeeded, failed, timedOut, cancelled) }
            assertEquals(KEYS.toLong(), outcomes.sum(), "$metrics")
            assertEquals(cancelled.get().toLong(), metrics.cancelled)
            assertEquals(0, metrics.running)
            val left = schedule.entries(limit = KEYS)
            assertEquals(metrics.failed + metrics.timedOut, left.size.toLong())
            assertEquals(metrics.failed, left.count { it.lastOutcome == RunOutcome.FAILED }.toLong())
            assertTrue(left.all { it.pausedBy == PausedBy.FAILED_RUN && it.runningSince == null })
            schedule.shutdown()
            running.join()
            // A run that was cancelled after its failure is reported, too.
            val failures = metrics.failed + metrics.timedOut
            assertTrue(reported.get() in failures..failures + metrics.cancelled) { "$reported of $metrics" }
        }

    private fun hasEnded(): Boolean =
        schedule.entries(limit = KEYS).all { it.pausedBy != null } &&
            schedule.metrics.run { running == 0 && succeeded + failed + timedOut + cancelled >= KEYS }

    private suspend fun edit(keys: IntProgression) {
        val random = ThreadLocalRandom.current()
        for (key in keys) {
            schedule.put(key, Trigger.at(Instant.now().plusMillis(random.nextLong(-2, 10))))
            repeat(3) { cancelled.addAndGet(schedule.cancelRun((key - random.nextInt(200)).coerceAtLeast(0))) }
            if (key % 64 == 0) delay(1.milliseconds)
        }
    }

    private companion object {
        const val THREADS = 4
        const val KEYS = 20_000
    }
}
