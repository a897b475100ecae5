package baton.test.clock

import baton.batch.BatchProcessor
import baton.batch.ConcurrencyConfig
import baton.monitoring.Alert
import baton.monitoring.AlertRules
import baton.monitoring.Monitor
import baton.resilience.AttemptTimeoutException
import baton.resilience.Backoff
import baton.resilience.CircuitBreaker
import baton.resilience.CircuitBreakerConfig
import baton.resilience.Jitter
import baton.resilience.RateLimiter
import baton.resilience.RateLimiters
import baton.resilience.ResiliencePipeline
import baton.resilience.RetryPolicy
import baton.resilience.per
import baton.resilience.retry
import baton.scheduler.Schedule
import baton.scheduler.ScheduleConfig
import baton.scheduler.TaskScheduler
import baton.scheduler.TaskSchedulerConfig
import baton.scheduler.Trigger
import baton.sync.Semaphore
import java.io.IOException
import java.nio.file.Files
import java.nio.file.Path
import kotlin.time.Duration.Companion.milliseconds
import kotlin.time.Duration.Companion.minutes
import kotlin.time.Duration.Companion.seconds
import kotlinx.coroutines.ExperimentalCoroutinesApi
import kotlinx.coroutines.delay
import kotlinx.coroutines.launch
import kotlinx.coroutines.test.TestScope
import kotlinx.coroutines.test.currentTime
import kotlinx.coroutines.test.runTest
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.DynamicTest
import org.junit.jupiter.api.DynamicTest.dynamicTest
import org.junit.jupiter.api.Test
import org.junit.jupiter.api.TestFactory
import org.junit.jupiter.api.assertThrows

/** Each public type that takes a clock, without one in a test with virtual time: its result is that of virtual time. */
@OptIn(ExperimentalCoroutinesApi::class)
internal class ClockSweepTest {
    private class Case(val type: String, val expected: Any, val result: suspend TestScope.() -> Any)

    private val cases =
        listOf(
            Case("baton/resilience/RateLimiter", 4_000L) {
                val limiter = RateLimiter.tokenBucket(1 per 1.seconds)
                repeat(5) { limiter.acquire() }
                currentTime
            },
            Case("baton/resilience/RateLimiters", 4_000L) {
                val limiters = RateLimiters<String>(1 per 1.seconds)
                repeat(5) { limiters.acquire("a") }
                currentTime
            },
            Case("baton/resilience/CircuitBreakerConfig", "probed") {
                val openFor = Backoff.constant(5.seconds)
                val breaker =
                    CircuitBreaker(CircuitBreakerConfig(minimumCalls = 1, openFor = openFor, jitter = Jitter.None))
                assertThrows<IOException> { breaker.protect { throw IOException() } }
                delay(5.seconds)
                breaker.protect { "probed" }
            },
            Case("baton/resilience/RetryPolicy", 3) {
                val pause = Backoff.constant(10.seconds)
                val policy = RetryPolicy(100, pause, Jitter.None, maxElapsed = 25.seconds)
                var attempts = 0
                assertThrows<IOException> {
                    retry(policy) {
                        attempts++
                        throw IOException()
                    }
                }
                attempts
            },
            Case("baton/resilience/ResiliencePipeline", 1_000L) {
                val pipeline = ResiliencePipeline(attemptTimeout = 1.seconds)
                assertThrows<AttemptTimeoutException> { pipeline.call { delay(1.minutes) } }
                currentTime
            },
            Case("baton/batch/BatchProcessor", 3.minutes) {
                val processor = BatchProcessor(ConcurrencyConfig(maxConcurrentTasks = 1))
                processor.process(1..3) { delay(1.minutes) }.elapsed
            },
            Case("baton/monitoring/Monitor", listOf(5_000L)) {
                val alerts = ArrayList<Long>()
                val rules = AlertRules(after = 5.seconds)
                val monitor =
                    Monitor(backgroundScope, 500.milliseconds, rules) { alert: Alert -> alerts += currentTime }
                val semaphore = Semaphore(1).also { it.acquire() }
                monitor.watch(semaphore)
                delay(1.minutes)
                alerts
            },
            Case("baton/scheduler/TaskSchedulerConfig", listOf(60_000L)) {
                val scheduler = TaskScheduler(this, 1, config = TaskSchedulerConfig())
                val refused = ArrayList<Long>()
                scheduler.schedule { delay(10.minutes) }
                scheduler.schedule(deadline = 1.minutes) {}.invokeOnCompletion { refused += currentTime }
                scheduler.drain()
                refused
            },
            Case("baton/scheduler/ScheduleConfig", 6) {
                var runs = 0
                val schedule = Schedule<String>(config = ScheduleConfig()) { runs++ }
                schedule.put("a", Trigger.fixedDelay(10.minutes))
                backgroundScope.launch { schedule.run() }
                delay(61.minutes)
                runs
            },
        )

    @TestFactory
    fun type_withoutAClock_hasVirtualTime(): List<DynamicTest> =
        cases.map { dynamicTest(it.type) { runTest { assertEquals(it.expected, it.result(this)) } } }

    /** By the dumps of the public API. */
    @Test
    fun cases_areAllTypesThatTakeAClock() {
        val type = Regex("class (baton/\\S+?)(\\\$Companion)? .*")
        val types =
            listOf("primitives", "scheduler")
                .flatMap { Files.readAllLines(Path.of("..", it, "api", "baton-$it.api")) }
                .fold(ArrayList<String>() to "") { (found, last), line ->
                    val next = type.find(line)?.groupValues?.get(1) ?: last
                    val takesAClock = "Lbaton/BatonClock;" in line.substringBefore(')')
                    found.also { if (takesAClock) it += next } to next
                }
                .first
                .toSet()
        assertEquals(cases.map { it.type }.toSet(), types)
    }
}
