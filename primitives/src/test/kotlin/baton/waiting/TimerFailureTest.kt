package baton.waiting

import baton.waiting.threads.Timeouts
import java.util.concurrent.CompletableFuture
import java.util.concurrent.TimeUnit.SECONDS
import java.util.concurrent.atomic.AtomicInteger
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.api.Test
import org.junit.jupiter.api.Timeout
import org.junit.jupiter.api.assertThrows
import org.junit.jupiter.params.ParameterizedTest
import org.junit.jupiter.params.provider.EnumSource

@Timeout(120)
class TimerFailureTest {
    /** A thread that another test has left may run a short timer: then the call that has set it does not throw. */
    @Test
    fun timer_withoutAThread_throwsOrRuns_andLeavesNothing() {
        val set = AtomicInteger()
        val ran = AtomicInteger()
        NoTimerThread.during {
            repeat(MANY) { assertThrows<OutOfMemoryError> { Timeouts.schedule(HOUR) { ran.incrementAndGet() } } }
            repeat(MANY) {
                try {
                    Timeouts.schedule(1) { ran.incrementAndGet() }
                    set.incrementAndGet()
                } catch (_: OutOfMemoryError) {}
            }
            val queued = NoTimerThread.queued
            assertTrue(queued < MANY, "$queued timers are left")
        }
        val next = CompletableFuture<Unit>()
        Timeouts.schedule(2) { next.complete(Unit) }
        next.get(120, SECONDS)
        while (ran.get() < set.get()) Thread.yield()
        assertEquals(set.get(), ran.get())
    }

    @ParameterizedTest
    @EnumSource
    fun action_thatFailsOnTheTimerThread_isReported_andTheNextRuns(inner: InnerFailure) {
        val failure = inner.create()
        val reported = CompletableFuture<Throwable>()
        Timeouts.onTimerThread(1) {
            Thread.currentThread().setUncaughtExceptionHandler { thread, e ->
                thread.uncaughtExceptionHandler = null
                reported.complete(e)
            }
            throw failure
        }
        assertEquals(failure, reported.get(120, SECONDS))
        val next = CompletableFuture<Unit>()
        Timeouts.onTimerThread(1) { next.complete(Unit) }
        next.get(120, SECONDS)
    }

    private companion object {
        const val MANY = 100
        const val HOUR = 3_600_000L
    }
}
