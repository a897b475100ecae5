package baton.stress

import baton.channels.Channel
import baton.monitoring.Alert
import baton.monitoring.AlertRules
import baton.monitoring.Monitor
import baton.monitoring.Monitored
import baton.monitoring.Usage
import baton.sync.Barrier
import baton.sync.BarrierTimeoutException
import baton.sync.Mutex
import baton.sync.ReadWriteLock
import baton.sync.Semaphore
import baton.sync.WaitGroup
import baton.sync.WaitOrder
import baton.sync.withLock
import baton.sync.withPermit
import baton.sync.withRead
import baton.sync.withWrite
import java.util.concurrent.ConcurrentLinkedQueue
import kotlin.time.Duration
import kotlin.time.Duration.Companion.hours
import kotlin.time.Duration.Companion.milliseconds
import kotlinx.coroutines.CoroutineScope
import kotlinx.coroutines.Dispatchers
import kotlinx.coroutines.Job
import kotlinx.coroutines.cancelAndJoin
import kotlinx.coroutines.joinAll
import kotlinx.coroutines.launch
import kotlinx.coroutines.yield
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.api.Test

/** Monitors come and go while the objects that they watch are contended for. */
open class MonitorStressTest : Stress() {
    protected open val rounds
        get() = 300

    private val semaphore = Semaphore(2)
    private val mutex = Mutex()
    private val lock = ReadWriteLock()
    private val queue = Semaphore(1, order = WaitOrder.PRIORITY)
    private val channel = Channel<Int>(1)
    private val barrier = Barrier(2)
    private val group = WaitGroup()
    private val condition = mutex.newCondition()
    private val sources: List<Monitored> = listOf(semaphore, mutex, lock, queue, channel, barrier, group, condition)
    private val alerts = ConcurrentLinkedQueue<Alert>()

    private suspend fun useOne() {
        when (random.nextInt(9)) {
            0 -> semaphore.withPermit { yieldSometimes() }
            1 -> mutex.withLock { yieldSometimes() }
            2 -> lock.withRead { yieldSometimes() }
            3 -> lock.withWrite { yieldSometimes() }
            4 -> queue.withPermit { yieldSometimes() }
            5 -> channel.send(1)
            6 ->
                try {
                    barrier.arrive(1.milliseconds)
                } catch (_: BarrierTimeoutException) {}
            7 -> {
                group.add()
                yieldSometimes()
                group.done()
                group.await(1.milliseconds)
            }
            else ->
                mutex.withLock {
                    condition.await(1.milliseconds)
                    condition.signal()
                }
        }
    }

    private fun assertPlausible(usage: Usage) {
        assertTrue(usage.peakWaiting >= usage.waiting) { "$usage" }
        assertTrue(usage.waiters.size <= minOf(usage.waiting, 10)) { "$usage" }
        assertTrue(usage.longestWait < 1.hours) { "$usage" }
        assertTrue((usage.longestWait == Duration.ZERO) || usage.waiting > 0) { "$usage" }
        assertTrue(usage.inUse in 0..usage.capacity + 1) { "$usage" }
    }

    @Test
    fun monitors_overObjectsUnderStress_raiseNoWrongAlertAndLeaveNothing() {
        var isOver = false
        val scope = CoroutineScope(Dispatchers.Default + Job())
        stress(*sources.toTypedArray()) {
            // No wait lasts for an hour, so one look that sees such a wait has read a wrong time.
            val rules = AlertRules(after = Duration.ZERO, longestWait = 1.hours)
            val lasting = Monitor(scope, every = 1.milliseconds, rules) { alerts += it }
            sources.forEach { lasting.watch(it) }
            val users = crowd(size = 8, goesOn = { !isOver }) { useOne() }
            val receiver = launch { for (element in channel) yieldSometimes() }
            repeat(rounds) {
                val passing = Monitor(scope, every = 1.milliseconds, rules) { alerts += it }
                val watches = sources.map { passing.watch(it) }
                passing.snapshot().values.forEach(::assertPlausible)
                sources.forEach { assertPlausible(it.usage()) }
                yield()
                watches.take(2).forEach { it.close() }
                passing.close()
                watchdog.progress()
            }
            isOver = true
            users.joinAll()
            receiver.cancelAndJoin()
            assertTrue(lasting.snapshot().values.any { it.peakWaiting > 0 })
            lasting.close()
        }
        assertEquals(emptyList<Alert>(), alerts.filter { it.kind != Alert.Kind.UTILISATION })
        assertTrue(alerts.all { it.value in 0.0..2.0 }) { "$alerts" }
        scope.coroutineContext[Job]!!.let { job -> stress { job.children.forEach { it.join() } } }
        for (source in sources) assertEquals(0, source.usage().waiting, "$source")
        val locks = listOf(semaphore.core, mutex.core, lock.core, queue.core, channel.core)
        val cores = locks + listOf(barrier.core, group.core, condition.core)
        assertEquals(cores.map { false }, cores.map { it.watch!!.isOn })
    }
}
