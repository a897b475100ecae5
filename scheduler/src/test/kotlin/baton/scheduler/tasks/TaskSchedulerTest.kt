package baton.scheduler.tasks

import baton.Priority
import baton.Priority.CRITICAL
import baton.Priority.HIGH
import baton.Priority.IDLE
import baton.Priority.LOW
import baton.Priority.NORMAL
import baton.asClock
import baton.priority
import baton.scheduler.PriorityPolicy
import baton.scheduler.ScheduledTask
import baton.scheduler.TaskScheduler
import baton.scheduler.TaskSchedulerConfig
import baton.scheduler.TaskState
import baton.sync.assertContains
import kotlin.time.Duration
import kotlin.time.Duration.Companion.days
import kotlin.time.Duration.Companion.hours
import kotlin.time.Duration.Companion.milliseconds
import kotlin.time.Duration.Companion.minutes
import kotlin.time.Duration.Companion.seconds
import kotlin.time.TestTimeSource
import kotlinx.coroutines.CompletableDeferred
import kotlinx.coroutines.awaitAll
import kotlinx.coroutines.cancel
import kotlinx.coroutines.currentCoroutineContext
import kotlinx.coroutines.delay
import kotlinx.coroutines.isActive
import kotlinx.coroutines.launch
import kotlinx.coroutines.selects.select
import kotlinx.coroutines.test.TestScope
import kotlinx.coroutines.test.runCurrent
import kotlinx.coroutines.test.runTest
import kotlinx.coroutines.withContext
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertFalse
import org.junit.jupiter.api.Assertions.assertNull
import org.junit.jupiter.api.Assertions.assertThrows
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.api.Test
import org.junit.jupiter.params.ParameterizedTest
import org.junit.jupiter.params.provider.ValueSource

/** Order, bound and counts, in virtual time. */
class TaskSchedulerTest {
    private val ran = ArrayList<String>()

    private fun TestScope.scheduler(maxConcurrency: Int = 1, config: TaskSchedulerConfig = TaskSchedulerConfig()) =
        TaskScheduler(this, maxConcurrency, "test", config)

    @Test
    fun schedule_severalLevels_mostUrgentFirst_eachLevelInOrder() = runTest {
        val scheduler = scheduler()
        scheduler.pause()
        for (i in 1..2) for (level in Priority.entries.reversed()) scheduler.schedule(level) { ran += "$level $i" }
        scheduler.schedule { ran += "no level" }
        scheduler.resume()
        runCurrent()
        assertEquals(
            "CRITICAL 1, CRITICAL 2, HIGH 1, HIGH 2, NORMAL 1, NORMAL 2, no level, LOW 1, LOW 2, IDLE 1, IDLE 2",
            ran.joinToString(),
        )
    }

    @Test
    fun clock_thatGoesBack_noTimeIsNegative_andTheOrderHolds() = runTest {
        val clock = TestTimeSource()
        val config = TaskSchedulerConfig(maxWait = mapOf(LOW to 1.minutes), overdueShare = 2, clock = clock.asClock())
        val scheduler = scheduler(config = config)
        clock += 2.hours
        scheduler.schedule(LOW) {
            ran += "first"
            delay(1.seconds)
        }
        runCurrent()
        for (level in listOf(LOW, HIGH)) scheduler.schedule(level) { ran += "$level" }
        clock += (-1).hours
        assertEquals(Duration.ZERO, scheduler.metrics[LOW].headWait)
        delay(2.seconds)
        assertEquals(listOf("first", "HIGH", "LOW"), ran)
        for (level in listOf(LOW, HIGH)) scheduler.metrics[level].run {
            assertEquals(List(4) { Duration.ZERO }, listOf(meanWait, longestWait, meanRun, longestRun))
        }
    }

    @Test
    fun policies_decideTheOrderOfStarts() = runTest {
        fun order(policy: PriorityPolicy): String {
            ran.clear()
            val scheduler = scheduler(config = TaskSchedulerConfig(policy))
            scheduler.pause()
            repeat(6) { scheduler.schedule(HIGH) { ran += "H" } }
            repeat(2) { scheduler.schedule(NORMAL) { ran += "N" } }
            repeat(2) { scheduler.schedule(LOW) { ran += "L" } }
            scheduler.resume()
            runCurrent()
            return ran.joinToString("")
        }
        assertEquals("HHHHHHNNLL", order(PriorityPolicy.Strict))
        assertEquals("HHHNLHHNHL", order(PriorityPolicy.Bounded(normal = 3, low = 4)))
        assertEquals("HNLHHNHHLH", order(PriorityPolicy.Shares(high = 4, normal = 2, low = 1)))
    }

    @ParameterizedTest
    @ValueSource(ints = [1, 2, 7])
    fun task_suspended_keepsItsSlot(places: Int) = runTest {
        val scheduler = scheduler(places)
        var running = 0
        var most = 0
        val tasks =
            List(20) { i ->
                scheduler.schedule(Priority.entries[i % 5]) {
                    most = maxOf(most, ++running)
                    delay((1 + i % 3).seconds)
                    running--
                }
            }
        tasks.awaitAll()
        assertEquals(places, most)
        assertEquals(0, scheduler.metrics.running)
    }

    @Test
    fun slot_isFreeOnceTheTaskAndItsChildrenHaveEnded() = runTest {
        val scheduler = scheduler()
        val first =
            scheduler.schedule {
                launch {
                    try {
                        delay(1.hours)
                    } finally {
                        withContext(kotlinx.coroutines.NonCancellable) { delay(1.minutes) }
                        ran += "child has ended"
                    }
                }
                "value"
            }
        scheduler.schedule { ran += "next" }
        delay(1.seconds)
        assertEquals(TaskState.RUNNING, first.state)
        assertTrue(ran.isEmpty())
        first.cancel()
        assertFalse(first.isCompleted)
        delay(30.seconds)
        assertEquals(1, scheduler.metrics.running)
        delay(31.seconds)
        assertEquals(listOf("child has ended", "next"), ran)
    }

    @Test
    fun maxConcurrency_raised_startsMoreAtOnce_lowered_runningTasksEnd() = runTest {
        val scheduler = scheduler(2)
        repeat(20) { scheduler.schedule { delay(10.seconds) } }
        runCurrent()
        assertEquals(2, scheduler.metrics.running)
        scheduler.maxConcurrency = 7
        assertEquals(7, scheduler.metrics.running)
        scheduler.maxConcurrency = 3
        assertEquals(7, scheduler.metrics.running)
        delay(11.seconds)
        assertEquals(3, scheduler.metrics.running)
        scheduler.maxConcurrency = Int.MAX_VALUE
        assertEquals(13, scheduler.metrics.running)
        assertEquals(0, scheduler.metrics.queued)
    }

    @Test
    fun task_isADeferred_worksWithAwaitAllAndSelect() = runTest {
        val scheduler = scheduler(2)
        val slow =
            scheduler.schedule {
                delay(2.seconds)
                "slow"
            }
        val fast =
            scheduler.schedule {
                delay(1.seconds)
                "fast"
            }
        val queued = scheduler.schedule { "queued" }
        assertTrue(queued.isActive && !queued.start() && queued.state == TaskState.QUEUED)
        val first = select {
            slow.onAwait { it }
            fast.onAwait { it }
        }
        assertEquals("fast", first)
        assertEquals(listOf("slow", "fast", "queued"), awaitAll(slow, fast, queued))
        assertEquals("queued", queued.getCompleted())
        assertNull(queued.getCompletionExceptionOrNull())
        assertEquals(TaskState.DONE, queued.state)
        val nothing: ScheduledTask<String?> = scheduler.schedule { null }
        assertNull(nothing.await())
    }

    @Test
    fun priority_ofARunningTask_changesInItsContextAndInTheCounts() = runTest {
        val scheduler = scheduler()
        val seen = CompletableDeferred<Priority?>()
        val task =
            scheduler.schedule(LOW) {
                delay(1.seconds)
                seen.complete(currentCoroutineContext().priority)
                delay(1.seconds)
            }
        runCurrent()
        assertEquals(1, scheduler.metrics[LOW].running)
        task.priority = CRITICAL
        assertEquals(0 to 1, scheduler.metrics[LOW].running to scheduler.metrics[CRITICAL].running)
        assertEquals(CRITICAL, seen.await())
        delay(2.seconds)
        task.priority = IDLE
        assertEquals(1, scheduler.metrics[CRITICAL].done)
    }

    @Test
    fun waits_areMeasuredInTheConfiguredTimeSource() = runTest {
        val scheduler = scheduler(config = TaskSchedulerConfig())
        for (i in 1..3) scheduler.schedule(LOW) { delay(10.seconds * i) }
        delay(15.seconds)
        assertEquals(15.seconds, scheduler.metrics[LOW].headWait)
        delay(1.minutes)
        val low = scheduler.metrics[LOW]
        assertEquals(30.seconds to 40.seconds / 3, low.longestWait to low.meanWait)
        assertEquals(30.seconds to 20.seconds, low.longestRun to low.meanRun)
        assertEquals(Duration.ZERO, low.headWait)
        assertEquals(listOf(3L, 3L, 3L), listOf(low.scheduled, low.started, low.done))
        assertContains(scheduler.metrics.toString(), "running = 0 of 1", "LOW: queued = 0, running = 0, started = 3")
    }

    @Test
    fun meanWait_sumExceedsALongOfNanoseconds_isRight() = runTest {
        val clock = TestTimeSource()
        val scheduler = scheduler(config = TaskSchedulerConfig(clock = clock.asClock()))
        val century = 36_500.days
        scheduler.pause()
        repeat(4) { scheduler.schedule(LOW) {} }
        clock += century
        scheduler.resume()
        scheduler.drain()
        assertEquals(century, scheduler.metrics[LOW].longestWait)
        // A double has 53 bits.
        assertTrue((scheduler.metrics[LOW].meanWait - century).absoluteValue < 1.seconds)
    }

    @Test
    fun toString_containsNameBoundAndState() = runTest {
        val scheduler = scheduler(2)
        repeat(3) { scheduler.schedule { delay(1) } }
        assertEquals("TaskScheduler 'test' (maxConcurrency = 2, running = 2, queued = 1, waiting = 0)", "$scheduler")
        scheduler.pause()
        assertContains(scheduler.toString(), "paused)")
        val task = scheduler.schedule(LOW, key = "page 7") {}
        assertEquals("ScheduledTask 'page 7' (queued, priority = LOW)", "$task")
        scheduler.close()
        assertContains(scheduler.toString(), "queued = 0", "closed)")
        assertEquals("ScheduledTask 'page 7' (done, priority = LOW)", "$task")
        assertContains(TaskScheduler(this, 1).toString(), "TaskScheduler (max")
        assertContains(TaskSchedulerConfig().toString(), "Bounded(64/128/256/512)", "overdueShare = 4")
    }

    @ParameterizedTest
    @ValueSource(ints = [Int.MIN_VALUE, -1, 0, 1])
    fun numbers_belowTheirLimits_areRefused(number: Int) = runTest {
        val scheduler = scheduler(3)
        val calls = ArrayList<() -> Unit>()
        calls += { TaskSchedulerConfig(overdueShare = number) }
        if (number < 1) calls += { TaskScheduler(this, number) }
        if (number < 1) calls += { scheduler.maxConcurrency = number }
        if (number < 0) calls += { TaskSchedulerConfig(capacity = number) }
        if (number < 0) calls += { TaskSchedulerConfig(maxWait = mapOf(LOW to number.milliseconds)) }
        for (call in calls) {
            val message = assertThrows(IllegalArgumentException::class.java) { call() }.message.orEmpty()
            assertTrue(number.toString() in message || number.milliseconds.toString() in message) { message }
        }
        assertEquals(3, scheduler.maxConcurrency)
        assertEquals(0, scheduler.metrics[NORMAL].scheduled)
    }

    @ParameterizedTest
    @ValueSource(ints = [1, 2, Int.MAX_VALUE])
    fun numbers_fromTheirLimits_areAccepted(number: Int) = runTest {
        val wait = if (number == Int.MAX_VALUE) kotlin.time.Duration.INFINITE else 0.seconds
        val config =
            TaskSchedulerConfig(
                maxWait = Priority.entries.associateWith { wait },
                overdueShare = maxOf(2, number),
                capacity = number - 1,
            )
        val scheduler = scheduler(number, config)
        val results = List(50) { scheduler.submit(Priority.entries[it % 5], deadline = null) { it } }.awaitAll()
        assertEquals(List(50) { it }, results)
    }
}
