package baton.resilience.breaker

import baton.resilience.Backoff
import baton.resilience.BreakerState
import baton.resilience.BreakerState.CLOSED
import baton.resilience.BreakerState.DISABLED
import baton.resilience.CircuitBreaker
import baton.resilience.CircuitOpenException
import baton.resilience.SlidingWindow
import java.io.IOException
import kotlin.random.Random
import kotlin.time.Duration
import kotlin.time.Duration.Companion.nanoseconds
import kotlin.time.Duration.Companion.seconds
import kotlin.time.TestTimeSource
import kotlinx.coroutines.CompletableDeferred
import kotlinx.coroutines.CoroutineScope
import kotlinx.coroutines.CoroutineStart
import kotlinx.coroutines.Dispatchers
import kotlinx.coroutines.Job
import kotlinx.coroutines.SupervisorJob
import kotlinx.coroutines.TimeoutCancellationException
import kotlinx.coroutines.launch
import kotlinx.coroutines.runBlocking
import kotlinx.coroutines.withTimeout
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertTrue

/** Random steps of a [CircuitBreaker] and its [BreakerReference], compared after each. */
internal class BreakerAgainstReference(private val random: Random) {
    private val clock = TestTimeSource()
    private val byCalls = random.nextBoolean()
    private val isTimed = random.nextBoolean()
    private val size = random.nextInt(1, 7)
    private val minimum = random.nextInt(1, if (byCalls) size + 1 else 7)
    private val probes = random.nextInt(1, 4)
    private val failuresToOpen = random.nextInt(1, probes + 1)
    private val failureRate = listOf(0.1, 0.25, 0.5, 2.0 / 3, 1.0).random(random)
    private val slowRate = listOf(0.3, 0.5, 1.0).random(random)
    private val openFor = if (random.nextBoolean()) Backoff.constant(10.seconds) else Backoff.exponential(4.seconds)
    private val breaker =
        CircuitBreaker(
            config(
                clock,
                window = if (byCalls) SlidingWindow.Calls(size) else SlidingWindow.Time(WINDOW.nanoseconds),
                minimumCalls = minimum,
                failureRate = failureRate,
                slowCall = if (isTimed) 2.seconds else Duration.INFINITE,
                slowRate = slowRate,
                openFor = openFor,
                maxOpenFor = 20.seconds,
                probes = probes,
                failuresToOpen = failuresToOpen,
                isFailure = { it !is NoSuchElementException },
                ignoreIf = { it is UnsupportedOperationException },
                failureResult = { it == FAILED },
            )
        )
    private val reference =
        BreakerReference(
            windowCalls = size.takeIf { byCalls },
            windowNanos = WINDOW.takeUnless { byCalls },
            minimumCalls = minimum,
            failureRate = failureRate,
            slowNanos = 2.seconds.inWholeNanoseconds.takeIf { isTimed },
            slowRate = slowRate,
            openNanos = (1..8).map { minOf(openFor.delay(it), 20.seconds).inWholeNanoseconds },
            probes = probes,
            probeNanos = 5.seconds.inWholeNanoseconds,
            failuresToOpen = failuresToOpen,
        )
    private val scope = CoroutineScope(Dispatchers.Unconfined + SupervisorJob())
    private val running = mutableListOf<RunningCall>()
    private val changes = mutableListOf<Pair<BreakerState, BreakerState>>()
    private val waiters = mutableListOf<Job>()

    /** The time of the reference, which never goes back, and that of the clock. */
    private var now = 0L
    private var reading = 0L

    private class RunningCall(val job: Job, val end: CompletableDeferred<Any>, val expected: BreakerReference.Call)

    init {
        breaker.onChange { from, to -> changes += from to to }
    }

    fun run(steps: Int) {
        repeat(steps) { step ->
            val what = random.nextInt(100)
            try {
                take(what)
                compare()
            } catch (e: Throwable) {
                throw AssertionError("step $step ($what) of $breaker with ${breaker.config} at $now", e)
            }
        }
        while (running.isNotEmpty()) end(0)
    }

    private fun take(step: Int) {
        when {
            step < 35 -> begin()
            step < 75 -> if (running.isNotEmpty()) end(step) else begin()
            step < 95 -> passTime(random.nextLong(2 * SECOND))
            step < 96 -> passTime(random.nextLong(2, 12) * SECOND)
            step < 97 -> passTime(-random.nextLong(20 * SECOND))
            step < 98 -> awaitClosed()
            else ->
                when (random.nextInt(13)) {
                    0 -> breaker.trip().also { reference.trip() }
                    1 -> breaker.disable().also { reference.disable() }
                    12 -> breaker.openFor(3.seconds).also { reference.openFor(now, 3 * SECOND) }
                    in 2..5 -> breaker.reset().also { reference.reset() }
                    else -> passTime(reference.retryIn(now) ?: 1)
                }
        }
    }

    private fun passTime(nanos: Long) {
        clock += nanos.nanoseconds
        reading += nanos
        now = maxOf(now, reading)
    }

    private fun begin() {
        if (running.size > MOST_RUNNING) return end(0)
        val expected = reference.enter(now, reading)
        val end = CompletableDeferred<Any>()
        var refused: CircuitOpenException? = null
        var wasIn = false
        val job =
            scope.launch(start = CoroutineStart.UNDISPATCHED) {
                try {
                    breaker.protect {
                        wasIn = true
                        end.await()
                    }
                } catch (e: CircuitOpenException) {
                    refused = e
                } catch (_: Exception) {} catch (_: LinkageError) {}
            }
        assertEquals(expected != null, wasIn)
        if (expected != null) {
            running += RunningCall(job, end, expected)
            return
        }
        assertEquals(reference.retryIn(now)?.nanoseconds ?: Duration.INFINITE, refused?.retryIn)
        assertTrue(refused!!.retryIn.isPositive())
    }

    private fun end(step: Int) {
        val call = running.removeAt(random.nextInt(running.size))
        val how =
            when {
                step % 5 == 0 -> BreakerReference.End.CANCELLED
                step % 2 == 0 -> BreakerReference.End.SUCCESS
                else -> BreakerReference.End.FAILURE
            }
        reference.leave(call.expected, how, now, reading)
        when (how) {
            BreakerReference.End.CANCELLED ->
                when (step % 3) {
                    0 -> call.job.cancel()
                    1 -> call.end.completeExceptionally(UnsupportedOperationException())
                    else -> call.end.completeExceptionally(LinkageError())
                }
            BreakerReference.End.SUCCESS ->
                if (step % 4 == 0) call.end.complete("well")
                else call.end.completeExceptionally(NoSuchElementException())
            BreakerReference.End.FAILURE ->
                if (step % 3 == 1) call.end.complete(FAILED)
                else call.end.completeExceptionally(if (step % 3 == 0) TIMEOUT else IOException())
        }
        assertTrue(call.job.isCompleted)
    }

    private fun awaitClosed() {
        waiters += scope.launch(start = CoroutineStart.UNDISPATCHED) { breaker.awaitClosed() }
        if (waiters.size > MOST_RUNNING) waiters.random(random).cancel()
    }

    private fun compare() {
        assertEquals(reference.state, breaker.state)
        assertEquals(reference.changes, changes)
        changes.clear()
        reference.changes.clear()
        val metrics = breaker.metrics
        assertEquals(reference.metrics(now), Triple(metrics.calls, metrics.failureRate, metrics.slowRate))
        assertEquals(reference.rejected, metrics.rejected)
        assertEquals(reference.retryIn(now)?.nanoseconds ?: Duration.INFINITE, breaker.retryIn)
        waiters.removeIf { it.isCompleted }
        assertEquals(waiters.size, breaker.waiting)
        if (breaker.state == CLOSED || breaker.state == DISABLED) assertEquals(0, waiters.size)
    }

    private companion object {
        const val SECOND = 1_000_000_000L
        const val WINDOW = 10 * SECOND
        const val MOST_RUNNING = 8
        const val FAILED = "failed"

        val TIMEOUT: TimeoutCancellationException = runBlocking {
            try {
                withTimeout(1) { Job().join() }
                error("no timeout")
            } catch (e: TimeoutCancellationException) {
                e
            }
        }
    }
}
