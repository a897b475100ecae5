package baton.monitoring

import baton.hostile.LoopFault
import baton.hostile.RefusingExecutor
import java.util.concurrent.LinkedBlockingQueue
import java.util.concurrent.RejectedExecutionException
import java.util.concurrent.TimeUnit
import java.util.concurrent.atomic.AtomicReference
import kotlin.time.Duration
import kotlin.time.Duration.Companion.milliseconds
import kotlinx.coroutines.CancellationException
import kotlinx.coroutines.CoroutineExceptionHandler
import kotlinx.coroutines.CoroutineScope
import kotlinx.coroutines.SupervisorJob
import kotlinx.coroutines.asCoroutineDispatcher
import kotlinx.coroutines.cancel
import kotlinx.coroutines.job
import org.junit.jupiter.api.AfterEach
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertFalse
import org.junit.jupiter.api.Assertions.assertThrows
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.api.Test
import org.junit.jupiter.api.Timeout
import org.junit.jupiter.params.ParameterizedTest
import org.junit.jupiter.params.provider.EnumSource

/** The loop of a monitor over an executor that rejects, and over code that throws what a loop may take for its end. */
@Timeout(120)
class MonitorLoopTest {
    private val executor = RefusingExecutor()
    private val reported = LinkedBlockingQueue<Throwable>()
    private val handler = CoroutineExceptionHandler { _, e -> reported += e }
    private val scope = CoroutineScope(executor.asCoroutineDispatcher() + SupervisorJob() + handler)
    private val alerts = LinkedBlockingQueue<Boolean>()
    private val failure = AtomicReference<Throwable?>()
    private val threads = LinkedBlockingQueue<String>()
    @Volatile private var inUse = 0L

    private fun monitor() =
        Monitor(scope, 1.milliseconds, AlertRules(after = Duration.ZERO)) { alerts += it.raised }
            .also { monitor ->
                monitor.watch("pool") {
                    failure.getAndSet(null)?.let { throw it }
                    threads += Thread.currentThread().name
                    Usage(inUse, 10)
                }
            }

    /** Returns once the monitor has raised an alert and cleared it. */
    private fun assertAlerts() {
        inUse = 10
        assertEquals(true, alerts.poll(120, TimeUnit.SECONDS))
        inUse = 0
        assertEquals(false, alerts.poll(120, TimeUnit.SECONDS))
    }

    private fun nextReport(): Throwable = checkNotNull(reported.poll(120, TimeUnit.SECONDS)) { "nothing is reported" }

    @AfterEach
    fun shutDown() {
        scope.cancel()
        executor.shutdownNow()
    }

    @ParameterizedTest
    @EnumSource
    fun fault_isHeardAndAlertsGoOn(fault: LoopFault) {
        val monitor = monitor()
        repeat(3) {
            assertAlerts()
            val thrown = if (fault.isRefusal) null else fault.failure()
            if (thrown == null) fault.refuse(executor) else failure.set(thrown)
            val heard = nextReport()
            assertFalse(heard is CancellationException)
            assertTrue(
                if (thrown == null) heard is RejectedExecutionException else thrown in listOf(heard, heard.cause)
            )
            assertAlerts()
        }
        assertTrue(threads.all { it.startsWith("refusing") }) { "${threads.toSet()}" }
        monitor.close()
    }

    @Test
    fun executor_thatIsShutDown_endsTheMonitorAndThatIsHeard() {
        val monitor = monitor()
        assertAlerts()
        executor.shutdown()
        val heard = nextReport()
        assertTrue("was shut down" in heard.message!!) { "$heard" }
        while (scope.coroutineContext.job.children.any()) Thread.onSpinWait()
        assertThrows(IllegalStateException::class.java) { monitor.watch("x") { Usage(0, 1) } }
        assertEquals(0, reported.size)
    }

    @Test
    fun monitor_isClosedWhileTheExecutorRejects_endsAtOnce() {
        val monitor = monitor()
        assertAlerts()
        executor.refuse(Int.MAX_VALUE)
        nextReport()
        monitor.close()
        while (scope.coroutineContext.job.children.any()) Thread.onSpinWait()
    }
}
