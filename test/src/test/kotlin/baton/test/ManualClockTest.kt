package baton.test

import baton.resilience.RateLimiter
import baton.resilience.per
import baton.scheduler.Overlap
import baton.scheduler.Schedule
import baton.scheduler.ScheduleConfig
import baton.scheduler.Trigger
import java.time.Duration
import java.time.Instant
import java.util.concurrent.CountDownLatch
import java.util.concurrent.TimeUnit
import java.util.concurrent.atomic.AtomicInteger
import kotlin.time.Duration.Companion.hours
import kotlin.time.Duration.Companion.minutes
import kotlin.time.Duration.Companion.nanoseconds
import kotlin.time.Duration.Companion.seconds
import kotlinx.coroutines.CoroutineScope
import kotlinx.coroutines.Dispatchers
import kotlinx.coroutines.Job
import kotlinx.coroutines.launch
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertFalse
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.api.Test
import org.junit.jupiter.api.Timeout
import org.junit.jupiter.api.assertThrows

class ManualClockTest {
    private val start = Instant.parse("2027-03-28T00:00:00Z")
    private val clock = ManualClock(start)
    private val fired = ArrayList<String>()

    private fun timer(name: String, delay: Duration) = clock.schedule(delay) { fired += "$name ${clock.nanoTime()}" }

    @Test
    fun time_passesByAdvanceAlone_inBothReadings() {
        assertEquals(listOf(start, 0L), listOf(clock.instant(), clock.nanoTime()))
        clock.advance(90.seconds)
        clock.advance(Duration.ofNanos(1))
        assertEquals(
            listOf(start.plusSeconds(90).plusNanos(1), 90_000_000_001),
            listOf(clock.instant(), clock.nanoTime()),
        )
        assertEquals(Instant.parse("2000-01-01T00:00:00Z"), ManualClock().instant())
    }

    @Test
    fun timers_fireInTheOrderOfTheirTimes_thenInThatOfTheirScheduling() {
        timer("late", Duration.ofNanos(20))
        timer("first", Duration.ofNanos(10))
        timer("second", Duration.ofNanos(10))
        timer("beyond", Duration.ofNanos(31))
        timer("closed", Duration.ofNanos(10)).close()
        clock.advance(30.nanoseconds)
        assertEquals(listOf("first 10", "second 10", "late 20"), fired)
        assertEquals(30, clock.nanoTime())
        clock.advance(1.nanoseconds)
        assertEquals("beyond 31", fired.last())
    }

    @Test
    fun timer_ofATimer_firesWithinTheSameAdvance() {
        clock.schedule(Duration.ofNanos(10)) {
            timer("at once", Duration.ZERO)
            timer("within", Duration.ofNanos(5))
            timer("beyond", Duration.ofNanos(11))
        }
        clock.advance(20.nanoseconds)
        assertEquals(listOf("at once 10", "within 15"), fired)
    }

    @Test
    fun timer_thatIsDueAtOnce_firesAtTheNextAdvance() {
        timer("zero", Duration.ZERO)
        timer("negative", Duration.ofSeconds(-1))
        assertEquals(emptyList<String>(), fired)
        clock.advance(Duration.ZERO)
        assertEquals(listOf("zero 0", "negative 0"), fired)
    }

    @Test
    fun advance_byATimer_goesOnFromItsTime() {
        clock.schedule(Duration.ofNanos(10)) { clock.advance(20.nanoseconds) }
        timer("between", Duration.ofNanos(15))
        clock.advance(12.nanoseconds)
        assertEquals(listOf("between 15"), fired)
        assertEquals(30, clock.nanoTime())
    }

    @Test
    fun timer_thatThrows_endsTheAdvanceAtItsTime() {
        clock.schedule(Duration.ofNanos(10)) { error("wrong") }
        timer("later", Duration.ofNanos(11))
        assertEquals("wrong", assertThrows<IllegalStateException> { clock.advance(20.nanoseconds) }.message)
        assertEquals(listOf(10L, emptyList<String>()), listOf(clock.nanoTime(), fired))
        clock.advance(10.nanoseconds)
        assertEquals(listOf("later 11"), fired)
    }

    @Test
    fun advanceToNextTimer_firesAllOfItsTime() {
        assertFalse(clock.advanceToNextTimer())
        timer("a", Duration.ofNanos(10))
        timer("b", Duration.ofNanos(10))
        timer("c", Duration.ofNanos(11))
        assertTrue(clock.advanceToNextTimer())
        assertEquals(listOf("a 10", "b 10"), fired)
    }

    @Test
    fun advance_thatTheClockCannotShow_isRefused_andNoTimePasses() {
        clock.advance(1.seconds)
        val negative = assertThrows<IllegalArgumentException> { clock.advance((-1).seconds) }
        assertEquals("by = PT-1S, must be at least 0", negative.message)
        val beyond = "beyond what a clock that began at $start and is at ${start.plusSeconds(1)} can show"
        for (by in listOf(Duration.ofNanos(Long.MAX_VALUE), Duration.ofSeconds(Long.MAX_VALUE))) {
            assertEquals("by = $by, $beyond", assertThrows<IllegalArgumentException> { clock.advance(by) }.message)
        }
        assertThrows<IllegalArgumentException> { ManualClock(Instant.MAX).advance(1.seconds) }
        assertEquals(start.plusSeconds(1), clock.instant())
        clock.schedule(Duration.ofSeconds(Long.MAX_VALUE)) { fired += "for ever" }
        clock.advance(Duration.ofDays(100 * 365))
        assertEquals(emptyList<String>(), fired)
    }

    @Test
    fun text_hasTheTimeAndTheNextTimers() {
        assertEquals("ManualClock (2027-03-28T00:00:00Z, timers = 0)", "$clock")
        timer("a", Duration.ofSeconds(3))
        timer("b", Duration.ofSeconds(1))
        clock.advance(Duration.ofMillis(500))
        val text = "ManualClock (2027-03-28T00:00:00.500Z, timers = 2: a timer in PT0.5S, a timer in PT2.5S)"
        assertEquals(text, "$clock")
    }

    @Test
    fun timersLeft_areALeak() {
        timer("before", Duration.ofSeconds(1))
        val error = assertThrows<AssertionError> { assertNoLeaks(clock) { timer("left", Duration.ofSeconds(2)) } }
        assertEquals(
            "  callers waiting: 2, before: 1, a timer in PT1S, a timer in PT2S",
            error.message!!.lines().last(),
        )
    }

    @Test
    fun threads_thatAdvanceTogether_fireEachTimerOnce() {
        val count = AtomicInteger()
        val begin = CountDownLatch(1)
        val threads =
            List(4) {
                Thread {
                    begin.await()
                    repeat(250) {
                        clock.schedule(Duration.ofNanos(1)) { count.incrementAndGet() }
                        clock.advance(1.nanoseconds)
                    }
                }
            }
        threads.forEach { it.start() }
        begin.countDown()
        threads.forEach { it.join(120_000) }
        clock.advance(1.nanoseconds)
        assertEquals(1_000, count.get())
        clock.shouldHaveWaiters(0)
    }

    @Test
    fun limiter_goesOnWhenTheClockDoes() {
        val limiter = RateLimiter.tokenBucket(1 per 1.minutes, clock = clock)
        assertTrue(limiter.tryAcquire())
        var granted = 0
        val scope = CoroutineScope(Dispatchers.Unconfined + Job())
        scope.launch { repeat(3) { limiter.acquire().also { granted++ } } }
        clock.advance(59.seconds)
        assertEquals(0, granted)
        clock.advance(1.seconds)
        assertEquals(1, granted)
        clock.advance(1.hours)
        assertEquals(3, granted)
    }

    @Test
    fun schedule_firesAtTheNextDue() {
        val runs = ArrayList<Instant>()
        val schedule = Schedule<String>(config = ScheduleConfig(clock = clock)) { runs += clock.instant() }
        assertFalse(clock.advanceToNextDue(schedule))
        val run = CoroutineScope(Dispatchers.Unconfined + Job()).launch { schedule.run() }
        schedule.put("daily", Trigger.every(24.hours, start.plusSeconds(3600)))
        schedule.put("at", Trigger.at(start.plusSeconds(7200).plusNanos(1)))
        repeat(3) { assertTrue(clock.advanceToNextDue(schedule)) }
        assertEquals(listOf(1L, 2L, 25L), runs.map { Duration.between(start, it).toHours() })
        run.cancel()
        val other = Schedule<String>(config = ScheduleConfig(clock = ManualClock())) {}
        assertThrows<IllegalArgumentException> { clock.advanceToNextDue(other) }
        assertThrows<IllegalArgumentException> { clock.advanceToNextDue(clock) }
    }

    private val aDay = Duration.ofDays(1)

    @Test
    fun advanceToNextDue_betweenMilliseconds_firesWithinTheSameCall() {
        val runs = ArrayList<Instant>()
        val schedule = Schedule<String>(config = ScheduleConfig(clock = clock)) { runs += it.at }
        val run = CoroutineScope(Dispatchers.Unconfined + Job()).launch { schedule.run() }
        clock.advance(Duration.ofNanos(500_000))
        schedule.put("daily", Trigger.every(24.hours, start))
        clock.advance(Duration.ofNanos(600_000))
        for (day in 1L..3) {
            assertTrue(clock.advanceToNextDue(schedule))
            assertEquals(start.plus(aDay.multipliedBy(day)), runs.last())
        }
        assertEquals(3, runs.size)
        run.cancel()
    }

    @Test
    @Timeout(120)
    fun advanceToNextDue_waitsForTheThreadsOfTheSchedule() {
        val runs = CountDownLatch(365)
        val config = ScheduleConfig(clock = clock, overlap = Overlap.ALLOW)
        val schedule = Schedule<String>(config = config) { runs.countDown() }
        val run = CoroutineScope(Dispatchers.Default + Job()).launch { schedule.run() }
        schedule.put("daily", Trigger.every(24.hours, start.plusSeconds(3600)))
        repeat(365) { assertTrue(clock.advanceToNextDue(schedule)) }
        assertEquals(start.plusSeconds(3600).plus(aDay.multipliedBy(364)), clock.instant())
        assertTrue(runs.await(2, TimeUnit.MINUTES)) { "${runs.count} runs are missing" }
        run.cancel()
    }

    @Test
    fun advanceToNextDue_pastADueTimeThatDoesNotFire_saysWhy() {
        val schedule = Schedule<String>(name = "reports", config = ScheduleConfig(clock = clock)) {}
        schedule.put("daily", Trigger.every(24.hours, start.plusSeconds(3600)))
        assertTrue(clock.advanceToNextDue(schedule))
        val failure = assertThrows<IllegalStateException> { clock.advanceToNextDue(schedule) }
        assertEquals(start.plusSeconds(3600), clock.instant())
        val due = start.plusSeconds(3600)
        assertEquals(
            "$schedule has not fired what was due at $due, and it is $due: it does not run, its executor is busy, " +
                "or it runs on this thread, and needs runCurrent() between two calls",
            failure.message,
        )
    }
}
