package baton.scheduler.schedule

import baton.Priority
import baton.scheduler.Schedule
import baton.scheduler.Trigger
import baton.sync.assertContains
import java.io.IOException
import java.time.Instant
import kotlin.time.Duration
import kotlin.time.Duration.Companion.hours
import kotlin.time.Duration.Companion.milliseconds
import kotlin.time.Duration.Companion.seconds
import kotlinx.coroutines.CancellationException
import kotlinx.coroutines.NonCancellable
import kotlinx.coroutines.async
import kotlinx.coroutines.awaitCancellation
import kotlinx.coroutines.cancelAndJoin
import kotlinx.coroutines.delay
import kotlinx.coroutines.launch
import kotlinx.coroutines.runBlocking
import kotlinx.coroutines.test.currentTime
import kotlinx.coroutines.withContext
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertFalse
import org.junit.jupiter.api.Assertions.assertSame
import org.junit.jupiter.api.Assertions.assertThrows
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.api.Test

/** How a schedule ends, and misuse. */
class ScheduleEndTest {
    private val store = FaultyStore()

    /** Ends [schedule] both ways, and returns how long that took. */
    private fun endsWithin(
        time: Duration,
        world: suspend ScheduleWorld.() -> Schedule<String>,
        check: suspend ScheduleWorld.(Schedule<String>) -> Unit,
    ) {
        for (isShutdown in listOf(true, false)) scheduleTest { scope ->
            val schedule = world()
            val running = scope.launch { schedule.run() }
            pass(90.seconds)
            val before = scope.currentTime
            if (isShutdown) schedule.shutdown() else running.cancelAndJoin()
            assertTrue((scope.currentTime - before).milliseconds <= time) { "${scope.currentTime - before} ms" }
            pass(1.seconds)
            assertEquals(!isShutdown, running.isCancelled)
            assertTrue(running.isCompleted)
            check(schedule)
            val fired = runs.size
            pass(1.hours)
            assertEquals(fired, runs.size)
        }
    }

    @Test
    fun end_idle_flushesAndClosesTheStore() =
        endsWithin(
            Duration.ZERO,
            {
                schedule(config(flushEvery = Duration.INFINITE), FaultyStore().also { it.takes = Duration.ZERO }).also {
                    it.put("a", everyMinute)
                }
            },
        ) {
            val store = it.store as FaultyStore
            assertEquals(listOf("a"), store.inside.load(0).map { row -> row.key })
            assertEquals(1, store.closed)
            assertEquals(0, it.metrics.dirty)
        }

    @Test
    fun end_actionRuns_waitsForIt() {
        var ended = 0
        endsWithin(5.seconds, { schedule { delay(35.seconds).also { ended++ } }.also { it.put("a", everyMinute) } }) {
            assertEquals(0, it.metrics.running)
        }
        assertEquals(2, ended)
    }

    @Test
    fun end_actionRunsLongerThanTheGrace_isCancelled_andRunsAgainNextTime() {
        var cancelled = 0
        endsWithin(
            10.seconds,
            {
                val action: suspend (Any) -> Unit = {
                    try {
                        awaitCancellation()
                    } catch (e: CancellationException) {
                        cancelled++
                        throw e
                    }
                }
                schedule(store = store, action = action).also { it.put("a", Trigger.at(Instant.ofEpochSecond(5))) }
            },
        ) {
            assertEquals(listOf("a"), store.inside.load(0).map { row -> row.key })
            assertEquals(listOf(0L, 0L), it.metrics.run { listOf(failed, running.toLong()) })
            assertEquals(0, failures.size)
        }
        assertEquals(2, cancelled)
    }

    @Test
    fun end_actionIgnoresItsCancellation_isNotWaitedFor() =
        endsWithin(
            20.seconds,
            { schedule { withContext(NonCancellable) { delay(10.hours) } }.also { it.put("a", everyMinute) } },
        ) {
            assertEquals(1, it.metrics.running)
        }

    @Test
    fun end_queuedRuns_doNotBegin() =
        endsWithin(
            10.seconds,
            {
                schedule(maxConcurrency = 1) { delay(33.seconds) }
                    .also { for (key in listOf("a", "b", "c")) it.put(key, everyMinute) }
            },
        ) {
            assertEquals(1, runs.size)
        }

    @Test
    fun end_storeFails_isTriedForTheGrace() =
        endsWithin(
            10.seconds,
            { schedule(store = FaultyStore().also { it.failsToApply = true }).also { it.put("a", everyMinute) } },
        ) {
            assertEquals(1, failures.size)
            assertEquals(1, (it.store as FaultyStore).closed)
            assertTrue(it.metrics.flushFailures > 10)
            assertEquals(1, it.metrics.dirty)
        }

    @Test
    fun end_storeHangs_isTriedForTheGrace() =
        endsWithin(
            10.seconds,
            { schedule(store = FaultyStore().also { it.takes = 1.hours }).also { it.put("a", everyMinute) } },
        ) {
            assertEquals(1, (it.store as FaultyStore).closed)
            assertEquals(0, runs.size)
        }

    /** The last flush waited for the resync of a user, until the grace was over. */
    @Test
    fun end_resyncOfAUserHangs_writesAndRefusesIt() = scheduleTest { scope ->
        val schedule = started(config(flushEvery = Duration.INFINITE), store)
        schedule.put("a", everyMinute)
        pass(1.seconds)
        store.loadTakes = 10.hours
        val resync = scope.async { runCatching { schedule.resync() }.exceptionOrNull() }
        pass(1.seconds)
        val before = scope.currentTime
        schedule.shutdown()
        assertEquals(before, scope.currentTime)
        assertEquals(listOf("a"), store.inside.load(0).map { it.key })
        assertContains(resync.await()!!.message!!, "Schedule 'test' has ended")
        assertEquals(0, failures.size)
    }

    @Test
    fun end_whileTheFirstLoadHangs_writesTheEdits() {
        val store = FaultyStore()
        endsWithin(
            1.seconds,
            {
                store.loadTakes = 10.hours
                schedule(store = store).also { it.put("a", Trigger.at(Instant.ofEpochSecond(3600))) }
            },
        ) {
            assertEquals(listOf("a"), store.inside.load(0).map { row -> row.key })
            assertEquals(0, failures.size)
        }
    }

    @Test
    fun end_storeClosesForever_isWaitedForASecond() =
        endsWithin(
            1.seconds,
            { schedule(store = FaultyStore().also { it.closeTakes = 10.hours }).also { it.put("a", everyMinute) } },
        ) {
            assertEquals(0, it.metrics.dirty)
        }

    @Test
    fun end_actionAndStoreHang_isWithinTwiceTheGraceAndASecond() {
        for (grace in listOf(0.seconds, 10.seconds)) endsWithin(
            grace.coerceAtLeast(1.milliseconds) * 2 + 1.seconds,
            {
                val store = FaultyStore().also { it.closeTakes = 10.hours }
                schedule(config(grace = grace), store) {
                        store.takes = 10.hours
                        withContext(NonCancellable) { delay(10.hours) }
                    }
                    .also { it.put("a", everyMinute) }
            },
        ) {
            assertEquals(1, it.metrics.running)
            assertEquals(1, (it.store as FaultyStore).closed)
        }
    }

    @Test
    fun end_withoutGrace_cancelsAtOnceAndStillWrites() =
        endsWithin(
            1.milliseconds,
            {
                schedule(config(grace = Duration.ZERO, flushEvery = Duration.INFINITE), FaultyStore()) {
                        awaitCancellation()
                    }
                    .also { it.put("a", everyMinute) }
            },
        ) {
            assertEquals(1, (it.store as FaultyStore).batches.size)
            assertEquals(0, it.metrics.running)
        }

    @Test
    fun load_fails_isReported_endsRun_andLeavesTheStoreAsItIs() = scheduleTest {
        store.failsToLoad = true
        val schedule = schedule(store = store)
        schedule.put("a", everyMinute)
        val failure = runCatching { schedule.run() }.exceptionOrNull()
        assertTrue(failure is IOException)
        assertEquals(listOf<Any>(store to "load"), failures.map { (key, failure) -> key to failure.message })
        assertEquals(0 to 1, store.batches.size to store.closed)
        assertThrows(IllegalStateException::class.java) { runBlocking { schedule.run() } }
        schedule.shutdown()
    }

    @Test
    fun load_failsWithoutAListener_isPassedToTheHandlerOfUncaughtExceptions() = scheduleTest {
        store.failsToLoad = true
        val uncaught = ArrayList<Throwable>()
        val thread = Thread.currentThread()
        val handler = thread.uncaughtExceptionHandler
        thread.setUncaughtExceptionHandler { _, e -> uncaught += e }
        try {
            runCatching { Schedule<String>(store) {}.run() }
        } finally {
            thread.uncaughtExceptionHandler = handler
        }
        assertEquals(listOf("load"), uncaught.map { it.message })
    }

    @Test
    fun edits_afterAFailedLoad_areRefusedWithItsFailure() = scheduleTest {
        store.failsToLoad = true
        val schedule = schedule(store = store)
        val failure = runCatching { schedule.run() }.exceptionOrNull()
        for (call in
            listOf<suspend () -> Any>(
                { schedule.put("a", everyMinute) },
                { schedule.remove("a") },
                { schedule.triggerNow("a") },
                { schedule.resync() },
                { schedule.run() },
            )) {
            val refusal = assertThrows(IllegalStateException::class.java) { runBlocking { call() } }
            assertContains(refusal.message!!, "Schedule 'test' ", "has ended", "$failure")
            assertSame(root(failure!!), root(refusal))
        }
    }

    @Test
    fun shutdown_whileAFailedLoadEnds_runThrowsTheFailure() = scheduleTest { scope ->
        store.failsToLoad = true
        store.closeTakes = 500.milliseconds
        val schedule = schedule(store = store)
        val failure = scope.async { runCatching { schedule.run() }.exceptionOrNull() }
        pass(100.milliseconds)
        schedule.shutdown()
        assertTrue(failure.await() is IOException)
    }

    @Test
    fun run_twice_isRefused() = scheduleTest { scope ->
        val schedule = schedule()
        val running = scope.launch { schedule.run() }
        pass(1.seconds)
        assertContains(refusal { schedule.run() }, "Schedule 'test'", "once")
        running.cancelAndJoin()
        assertContains(refusal { schedule.run() }, "Schedule 'test'")
    }

    @Test
    fun shutdown_beforeRun_writesAndRefusesRun() = scheduleTest {
        val schedule = schedule(store = store)
        schedule.put("a", everyMinute)
        schedule.shutdown()
        schedule.shutdown()
        assertEquals(1 to 1, store.batches.size to store.closed)
        refusal { schedule.run() }
    }

    @Test
    fun shutdown_callerCancelled_endsAllTheSame() = scheduleTest { scope ->
        val schedule = schedule { delay(8.seconds) }
        schedule.put("a", everyMinute)
        val running = scope.launch { schedule.run() }
        pass(60.seconds)
        val shutdown = scope.launch { schedule.shutdown() }
        pass(1.seconds)
        shutdown.cancelAndJoin()
        assertTrue(running.isActive)
        schedule.shutdown()
        pass(0.seconds)
        assertTrue(running.isCompleted)
    }

    @Test
    fun shutdown_byAnAction_endsAfterTheGrace() = scheduleTest { scope ->
        lateinit var schedule: Schedule<String>
        schedule = schedule { schedule.shutdown() }
        schedule.put("a", everyMinute)
        val running = scope.launch { schedule.run() }
        pass(70.seconds)
        assertFalse(running.isActive)
    }

    @Test
    fun edits_afterTheEnd_areRefusedAndChangeNothing() = scheduleTest {
        val schedule = started(store = store)
        schedule.put("a", everyMinute)
        schedule.shutdown()
        for (edit in
            listOf<() -> Any>(
                { schedule.put("b", everyMinute, Priority.LOW) },
                { schedule.remove("a") },
                { schedule.pause("a") },
                { schedule.resume("a") },
                { schedule.triggerNow("a") },
            )) assertContains(
            assertThrows(IllegalStateException::class.java) { edit() }.message!!,
            "Schedule 'test' has ended",
        )
        refusal { schedule.resync() }
        schedule.flush()
        assertEquals(1 to Instant.ofEpochSecond(60), schedule.size to schedule.nextDue("a"))
        assertEquals(0, schedule.metrics.dirty)
    }

    /** Coroutines may copy an exception that they throw again. */
    private fun root(failure: Throwable) = generateSequence(failure) { it.cause }.last()

    private suspend fun refusal(call: suspend () -> Unit): String {
        val failure = runCatching { call() }.exceptionOrNull()
        assertTrue(failure is IllegalStateException) { "$failure" }
        return failure!!.message!!
    }
}
