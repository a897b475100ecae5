package baton.scheduler.dispatch

import baton.monitoring.AlertRules
import baton.monitoring.Monitor
import baton.monitoring.Usage
import baton.scheduler.prioritized
import java.util.concurrent.Executors
import java.util.concurrent.LinkedBlockingQueue
import java.util.concurrent.TimeUnit
import kotlin.time.Duration
import kotlin.time.Duration.Companion.milliseconds
import kotlinx.coroutines.CoroutineExceptionHandler
import kotlinx.coroutines.CoroutineScope
import kotlinx.coroutines.SupervisorJob
import kotlinx.coroutines.asCoroutineDispatcher
import kotlinx.coroutines.cancel
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Tag
import org.junit.jupiter.api.Test
import org.junit.jupiter.api.Timeout

/** A loop on a dispatcher whose clock is that of a scheduled executor. */
@Tag("jdk")
@Timeout(120)
class PriorityLoopTest {
    @Volatile private var inUse = 0L
    private val alerts = LinkedBlockingQueue<Boolean>()

    private fun assertAlerts() {
        for (raised in listOf(true, false)) {
            inUse = if (raised) 10 else 0
            assertEquals(raised, alerts.poll(120, TimeUnit.SECONDS))
        }
    }

    /** kotlinx cancels the coroutine that waits, without an exception that its scope would see. */
    @Test
    fun monitor_whoseClockIsShutDown_goesOn() {
        val executor = Executors.newScheduledThreadPool(1)
        val reported = LinkedBlockingQueue<Throwable>()
        val handler = CoroutineExceptionHandler { _, e -> reported += e }
        val scope = CoroutineScope(executor.asCoroutineDispatcher().prioritized(1) + SupervisorJob() + handler)
        val monitor = Monitor(scope, 1.milliseconds, AlertRules(after = Duration.ZERO)) { alerts += it.raised }
        monitor.watch("pool") { Usage(inUse, 10) }
        assertAlerts()
        executor.shutdown()
        executor.awaitTermination(120, TimeUnit.SECONDS)
        assertAlerts()
        monitor.close()
        scope.cancel()
        assertEquals(emptyList<Throwable>(), reported.toList())
    }
}
