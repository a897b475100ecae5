package guide.priorities

import baton.Priority
import baton.PriorityController
import baton.scheduler.OnFullQueue
import baton.scheduler.PriorityPolicy
import baton.scheduler.TaskRejectedException
import baton.scheduler.TaskScheduler
import baton.scheduler.TaskSchedulerConfig
import baton.scheduler.TaskState
import baton.scheduler.prioritized
import baton.scheduler.withPriority
import baton.scheduler.yieldIfHigherWaiting
import baton.sync.Mutex
import baton.sync.Semaphore
import baton.sync.WaitOrder
import baton.sync.withLock
import kotlin.time.Duration.Companion.milliseconds
import kotlin.time.Duration.Companion.seconds
import kotlinx.coroutines.CoroutineDispatcher
import kotlinx.coroutines.delay
import kotlinx.coroutines.launch
import kotlinx.coroutines.test.StandardTestDispatcher
import kotlinx.coroutines.test.TestScope
import kotlinx.coroutines.test.advanceUntilIdle
import kotlinx.coroutines.test.runCurrent
import kotlinx.coroutines.test.runTest
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.api.Test
import org.junit.jupiter.api.assertThrows

/** The Kotlin of docs/priorities.md. */
class PrioritiesTest {
    private val TestScope.dispatcher: CoroutineDispatcher
        get() = StandardTestDispatcher(testScheduler)

    private val log = ArrayList<Any>()

    @Test
    fun feed_whoseWorkerIsBusy_showsThePageFirst() = runTest {
        val feed = Feed(dispatcher)
        feed.open("7")
        assertEquals(listOf("7: the page itself", "7: what comes next"), feed.shown)
    }

    @Test
    fun controller_raisedWhileTheWorkWaits_movesIt() = runTest {
        val urgency = dispatcher.prioritized(parallelism = 1)
        val page7 = PriorityController(Priority.LOW)
        launch(urgency) { log += "page 6" }
        launch(urgency + page7) { log += "page 7" }
        page7.level = Priority.CRITICAL // the user opened it
        advanceUntilIdle()
        assertEquals(listOf("page 7", "page 6"), log)
    }

    @Test
    fun longComputation_thatYields_letsUrgentWorkPass() = runTest {
        val urgency = dispatcher.prioritized(parallelism = 1)
        launch(urgency.level(Priority.LOW)) {
            for (row in 1..1_000) {
                index(row)
                if (row % 100 == 0) yieldIfHigherWaiting() // some volatile reads, if nothing waits
            }
            log += "indexed"
        }
        delay(1.milliseconds)
        assertEquals(listOf<Any>("indexed"), log)
    }

    @Test
    fun longComputation_duringWhichUrgentWorkComes_givesWay() = runTest {
        val urgency = dispatcher.prioritized(parallelism = 1)
        launch(urgency.level(Priority.LOW)) {
            launch(urgency + Priority.HIGH) { log += "urgent" }
            yieldIfHigherWaiting()
            log += "indexed"
        }
        advanceUntilIdle()
        assertEquals(listOf<Any>("urgent", "indexed"), log)
    }

    @Test
    fun policies_areMadeByTheirBounds() {
        val bounded = PriorityPolicy.Bounded(high = 8, normal = 32, low = 128, idle = 512)
        val shares = PriorityPolicy.Shares(critical = 1000, high = 400, normal = 100, low = 40, idle = 10)
        assertEquals(Int.MAX_VALUE, bounded.of(Priority.CRITICAL))
        assertEquals("Shares(1000/400/100/40/10)", shares.toString())
    }

    @Test
    fun scheduler_withTaskWhoseLevelChanges_startsItFirst() = runTest {
        val scheduler = TaskScheduler(backgroundScope, maxConcurrency = 1, name = "pages")
        val first = scheduler.schedule { load(1) }
        val prefetched = scheduler.schedule(Priority.LOW, key = "page 6") { load(6) }
        val opened = scheduler.schedule(Priority.LOW, key = "page 7") { load(7) }
        opened.priority = Priority.HIGH // the user opened it: it moves ahead, in O(1)
        prefetched.cancel() // out of the queue at once; its block never runs
        assertEquals("page 7 loaded", opened.await())
        assertEquals(listOf<Any>(1, 7), log)
        assertEquals("page 1 loaded", first.await())
        assertEquals(TaskState.DONE, prefetched.state)
    }

    @Test
    fun scheduler_whoseTaskIsAwaitedByUrgentCaller_boostsIt() = runTest {
        val scheduler = TaskScheduler(backgroundScope, maxConcurrency = 1)
        scheduler.schedule { load(1) }
        scheduler.schedule { load(2) }
        val report = scheduler.schedule(Priority.IDLE) { load(3) }
        withPriority(Priority.CRITICAL) { report.await() } // it waits as a CRITICAL task from now on
        assertEquals(listOf<Any>(1, 3), log)
    }

    @Test
    fun scheduler_thatIsFull_refuses() = runTest {
        val config =
            TaskSchedulerConfig(
                maxWait = mapOf(Priority.LOW to 5.seconds), // from then on one of four starts is for them
                capacity = 1_000,
                onFull = OnFullQueue.REJECT,
            )
        val scheduler = TaskScheduler(backgroundScope, maxConcurrency = 3, name = "uplink", config)
        repeat(1_003) { scheduler.schedule { load(it) } }
        assertThrows<TaskRejectedException> { scheduler.run { load(0) } }
        assertEquals(1, scheduler.metrics[Priority.NORMAL].rejected)
        scheduler.drain() // refuses further tasks, and waits for those it has
        assertEquals(1_003, log.size)
    }

    @Test
    fun failure_ofATaskThatNoCallerAwaits_reachesTheListener() = runTest {
        val config =
            TaskSchedulerConfig(
                onFailure = { key, failure -> log("$key: ${failure.message}") } // must not block
            )
        val scheduler = TaskScheduler(backgroundScope, maxConcurrency = 1, name = "prefetch", config)
        scheduler.schedule(Priority.LOW, key = "page 6") { error("no such page") } // no caller awaits it
        scheduler.schedule(Priority.LOW, key = "page 7", runTimeout = 2.seconds) {
            load(7)
        } // at most 2 s, however long it was queued
        scheduler.drain() // waits for the calls of the listener, too
        assertEquals(listOf<Any>("page 6: no such page", 7), log)
    }

    private fun log(line: String) {
        log += line
    }

    @Test
    fun mutex_whoseHolderIsLessUrgent_boostsIt() = runTest {
        val urgency = dispatcher.prioritized(parallelism = 1, policy = PriorityPolicy.Strict)
        val account = Mutex()
        launch(urgency + Priority.IDLE) {
            account.withLock {
                delay(1.seconds)
                log += "idle, in its section"
            }
        }
        delay(1.milliseconds)
        launch(urgency + Priority.CRITICAL) { account.withLock { log += "critical" } }
        runCurrent()
        launch(urgency + Priority.NORMAL) {
            delay(999.milliseconds)
            log += "normal"
        }
        advanceUntilIdle()
        assertEquals(listOf<Any>("idle, in its section", "critical", "normal"), log)
    }

    @Test
    fun semaphore_withOrderByPriority_servesTheUrgentFirst() = runTest {
        val uplink = Semaphore(permits = 1, order = WaitOrder.PRIORITY)
        uplink.acquire()
        launch(Priority.LOW) { uplink.acquire().also { log += "low" } }
        launch(Priority.HIGH) { uplink.acquire().also { log += "high" } }
        runCurrent()
        uplink.release(1)
        runCurrent()
        assertEquals(listOf<Any>("high"), log)
        uplink.release(1)
        runCurrent()
        assertTrue(log.size == 2)
    }

    private fun index(row: Int) = check(row > 0)

    private suspend fun load(page: Int): String {
        delay(10.milliseconds)
        log += page
        return "page $page loaded"
    }
}
