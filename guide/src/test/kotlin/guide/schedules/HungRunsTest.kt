package guide.schedules

import baton.monitoring.Alert
import baton.monitoring.AlertRules
import baton.monitoring.Monitor
import baton.scheduler.RunOutcome
import baton.scheduler.Schedule
import baton.scheduler.ScheduleConfig
import baton.scheduler.TaskTimeoutException
import baton.scheduler.Trigger
import java.time.Instant
import java.util.concurrent.CountDownLatch
import kotlin.time.Duration.Companion.hours
import kotlin.time.Duration.Companion.milliseconds
import kotlin.time.Duration.Companion.minutes
import kotlin.time.Duration.Companion.seconds
import kotlinx.coroutines.CompletableDeferred
import kotlinx.coroutines.Dispatchers
import kotlinx.coroutines.NonCancellable
import kotlinx.coroutines.channels.Channel
import kotlinx.coroutines.delay
import kotlinx.coroutines.launch
import kotlinx.coroutines.runBlocking
import kotlinx.coroutines.runInterruptible
import kotlinx.coroutines.test.runTest
import kotlinx.coroutines.withContext
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.api.Test

/** Runs that hang, of docs/schedules.md. */
class HungRunsTest {
    @Test
    fun run_thatIgnoresItsCancellation_isReportedByTheMonitorAndAtItsEnd() = runTest {
        val failures = ArrayList<Throwable>()
        val alerts = ArrayList<Alert>()
        val config = ScheduleConfig(runTimeout = { 30.seconds }, onFailure = { _, failure -> failures += failure })
        val schedule = Schedule<String>(config = config) { withContext(NonCancellable) { delay(10.minutes) } }
        Monitor(backgroundScope, rules = AlertRules(longestRun = 2.minutes)) { alerts += it }.watch(schedule)
        backgroundScope.launch { schedule.run() }
        schedule.put("import", Trigger.every(1.hours))
        schedule.triggerNow("import")
        delay(5.minutes)
        assertTrue(failures.isEmpty())
        assertEquals(0, schedule.metrics.timedOut)
        assertEquals(Alert.Kind.LONGEST_RUN, alerts.single().kind)
        delay(6.minutes)
        assertTrue(failures.single() is TaskTimeoutException)
        assertEquals(1, schedule.metrics.timedOut)
        assertEquals(RunOutcome.TIMED_OUT, schedule.entries().single().lastOutcome)
        schedule.shutdown()
    }

    @Test
    fun run_thatBlocks_isInterruptedAtItsTimeLimit() = runBlocking {
        val failures = Channel<Throwable>(Channel.UNLIMITED)
        val config = ScheduleConfig(runTimeout = { 50.milliseconds }, onFailure = { _, e -> failures.trySend(e) })
        val schedule =
            Schedule<String>(config = config) { runInterruptible(Dispatchers.IO) { CountDownLatch(1).await() } }
        val running = launch { schedule.run() }
        schedule.put("import", Trigger.at(Instant.now()))
        assertTrue(failures.receive() is TaskTimeoutException)
        schedule.shutdown()
        running.join()
    }

    @Test
    fun imports_ofThePage_run() = runBlocking {
        val imported = CompletableDeferred<String>()
        val background = launch {
            val schedule = startImports(this, { imported.complete(it) }, ::println)
            schedule.put("customers", Trigger.at(Instant.now()))
            schedule.run()
        }
        assertEquals("customers", imported.await())
        background.cancel()
    }
}
