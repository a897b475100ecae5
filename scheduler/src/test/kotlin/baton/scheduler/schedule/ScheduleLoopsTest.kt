package baton.scheduler.schedule

import baton.BatonClock
import baton.hostile.LoopFault
import baton.hostile.RefusingExecutor
import baton.scheduler.InMemoryScheduleStore
import baton.scheduler.Schedule
import baton.scheduler.ScheduleConfig
import baton.scheduler.ScheduleRow
import baton.scheduler.ScheduleStore
import baton.scheduler.Trigger
import java.time.Instant
import java.util.concurrent.LinkedBlockingQueue
import java.util.concurrent.RejectedExecutionException
import java.util.concurrent.TimeUnit
import java.util.concurrent.atomic.AtomicReference
import kotlin.time.Duration
import kotlin.time.Duration.Companion.hours
import kotlin.time.Duration.Companion.milliseconds
import kotlinx.coroutines.CancellationException
import kotlinx.coroutines.CompletableDeferred
import kotlinx.coroutines.CoroutineScope
import kotlinx.coroutines.SupervisorJob
import kotlinx.coroutines.asCoroutineDispatcher
import kotlinx.coroutines.async
import kotlinx.coroutines.awaitCancellation
import kotlinx.coroutines.cancel
import kotlinx.coroutines.currentCoroutineContext
import kotlinx.coroutines.delay
import kotlinx.coroutines.flow.Flow
import kotlinx.coroutines.flow.flow
import kotlinx.coroutines.job
import kotlinx.coroutines.runBlocking
import kotlinx.coroutines.withTimeout
import org.junit.jupiter.api.AfterEach
import org.junit.jupiter.api.Assertions.assertFalse
import org.junit.jupiter.api.Assertions.assertSame
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.api.Test
import org.junit.jupiter.api.Timeout
import org.junit.jupiter.params.ParameterizedTest
import org.junit.jupiter.params.provider.Arguments
import org.junit.jupiter.params.provider.MethodSource

/** Each coroutine of a schedule over an executor that rejects, and over code that throws what may look like its end. */
@Timeout(120)
class ScheduleLoopsTest {
    /** The coroutines of a schedule, by what they call again and again. */
    enum class Loop {
        FIRE,
        EDITS,
        RENEW,
        FLUSH,
        RESYNC,
    }

    private val executor = RefusingExecutor()
    private val scope = CoroutineScope(executor.asCoroutineDispatcher() + SupervisorJob())
    private val failures = LinkedBlockingQueue<Pair<Any, Throwable>>()

    /** The loops, as they go on. */
    private val steps = LinkedBlockingQueue<Loop>()
    private val fault = AtomicReference<Pair<Loop, Throwable>?>()

    private fun step(loop: Loop) {
        val armed = fault.get()
        if (armed?.first == loop && fault.compareAndSet(armed, null)) throw armed.second
        steps += loop
    }

    private inner class Store(private val inside: InMemoryScheduleStore<String> = InMemoryScheduleStore()) :
        ScheduleStore<String> by inside {
        override suspend fun own(owner: String, renewEvery: Duration) = true

        override suspend fun renew() = step(Loop.RENEW)

        override suspend fun load(since: Long): List<ScheduleRow<String>> {
            step(Loop.RESYNC)
            return inside.load(since)
        }

        override suspend fun apply(rows: List<ScheduleRow<String>>): Long {
            step(Loop.FLUSH)
            return inside.apply(rows)
        }

        override fun edits(): Flow<List<ScheduleRow<String>>> = flow {
            while (true) {
                delay(1.milliseconds)
                step(Loop.EDITS)
                emit(emptyList())
            }
        }
    }

    /** The clock is read by the loop, before and after each of its steps, and by the runs. */
    private fun now(): Instant {
        step(Loop.FIRE)
        return Instant.now()
    }

    private fun schedule(store: ScheduleStore<String> = Store(), every: Duration = 1.milliseconds) =
        Schedule(
            store,
            2,
            "test",
            ScheduleConfig(
                flushEvery = every,
                resyncEvery = every,
                resolution = 1.milliseconds,
                onFailure = { key, failure -> failures += key to failure },
                clock = BatonClock.of(::now),
            ),
        ) {}

    private fun begun(schedule: Schedule<String>): CompletableDeferred<Throwable?> {
        val end = CompletableDeferred<Throwable?>()
        val run = scope.async { schedule.run() }
        run.invokeOnCompletion { end.complete(it) }
        return end
    }

    private fun assertGoesOn(loop: Loop, end: CompletableDeferred<Throwable?>) {
        steps.clear()
        // The second one has begun after this call.
        repeat(2) {
            do {
                assertFalse(end.isCompleted) { "$loop has ended" }
                val step = steps.poll(10, TimeUnit.MILLISECONDS)
            } while (step != loop)
        }
    }

    @AfterEach
    fun shutDown() {
        scope.cancel()
        executor.shutdownNow()
    }

    @ParameterizedTest
    @MethodSource("cases")
    fun loop_withAFault_isHeardAndGoesOn(loop: Loop, fault: LoopFault) {
        val schedule = schedule()
        val end = begun(schedule)
        schedule.put("a", Trigger.fixedDelay(1.milliseconds))
        // A renewal is due once a second.
        repeat(if (loop == Loop.RENEW) 1 else 2) {
            assertGoesOn(loop, end)
            failures.clear()
            val thrown = if (fault.isRefusal) null else fault.failure()
            assertHeard(schedule, thrown, end) {
                if (thrown == null) fault.refuse(executor) else this.fault.set(loop to thrown)
            }
            assertGoesOn(loop, end)
        }
    }

    private fun assertHeard(
        schedule: Schedule<String>,
        thrown: Throwable?,
        end: CompletableDeferred<Throwable?>,
        arm: () -> Unit,
    ) {
        arm()
        while (true) {
            assertFalse(end.isCompleted) { "the schedule has ended" }
            val report = failures.poll(100, TimeUnit.MILLISECONDS)
            if (report == null || report.first == "a") {
                // It has hit a run; or a rejection that of the end of a timeout, which takes place elsewhere.
                if (report != null || thrown == null) arm()
                continue
            }
            val (key, failure) = report
            assertFalse(failure is CancellationException)
            if (thrown == null)
                assertTrue(failure is RejectedExecutionException && "is asked again" in failure.message!!)
            else assertTrue(generateSequence(failure) { it.cause }.any { it === thrown }) { "$failure" }
            assertTrue(key === schedule || key === schedule.store) { "$key" }
            return
        }
    }

    @Test
    fun executor_thatIsShutDown_endsRunAndThatIsHeard() = runBlocking {
        val schedule = schedule()
        val end = begun(schedule)
        schedule.put("a", Trigger.fixedDelay(1.hours))
        assertGoesOn(Loop.RESYNC, end)
        executor.shutdown()
        assertTrue(withTimeout(100_000) { end.await() } is CancellationException)
        val (key, failure) = failures.single { it.first === schedule }
        assertSame(schedule, key)
        assertTrue(failure is RejectedExecutionException && "was shut down" in failure.message!!) { "$failure" }
    }

    @Test
    fun run_whileTheExecutorRejects_endsByItsCancellationAndByShutdown() {
        for (isShutdown in listOf(true, false)) runBlocking {
            val schedule = schedule()
            val end = begun(schedule)
            assertGoesOn(Loop.RESYNC, end)
            val refused = executor.refused.get()
            executor.refuse(Int.MAX_VALUE)
            while (executor.refused.get() < refused + 10) assertFalse(end.isCompleted)
            if (isShutdown) schedule.shutdown() else scope.coroutineContext.job.children.forEach { it.cancel() }
            val outcome = withTimeout(100_000) { end.await() }
            // After a shutdown the executor rejects the return of `run`, for which kotlinx.coroutines cancels the
            // caller.
            val isRejected = outcome?.cause is RejectedExecutionException
            assertTrue(outcome is CancellationException && isRejected == isShutdown) { "$outcome" }
            executor.refuse(0)
        }
    }

    @Test
    fun firstLoad_whoseOwnTimeoutEnds_failsRun() = runBlocking {
        val slow =
            object : ScheduleStore<String> by InMemoryScheduleStore() {
                override suspend fun load(since: Long): List<ScheduleRow<String>> =
                    withTimeout(1.milliseconds) { awaitCancellation() }
            }
        val failure = begun(schedule(slow)).await()
        assertTrue(failure is IllegalStateException && failure !is CancellationException) { "$failure" }
        assertTrue(generateSequence(failure) { it.cause }.any { it is CancellationException }) { "$failure" }
    }

    @Test
    fun store_thatCancelsTheCoroutineThatCallsIt_failsRun() = runBlocking {
        val rude =
            object : ScheduleStore<String> by InMemoryScheduleStore() {
                override suspend fun load(since: Long): List<ScheduleRow<String>> {
                    currentCoroutineContext().cancel()
                    return emptyList()
                }
            }
        val failure = begun(schedule(rude)).await()
        assertTrue(failure is IllegalStateException && failure !is CancellationException) { "$failure" }
    }

    companion object {
        @JvmStatic
        fun cases(): List<Arguments> = Loop.entries.flatMap { loop -> LoopFault.entries.map { Arguments.of(loop, it) } }
    }
}
