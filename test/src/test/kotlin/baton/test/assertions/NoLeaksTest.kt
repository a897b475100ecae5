package baton.test.assertions

import baton.channels.Channel
import baton.monitoring.Monitored
import baton.monitoring.Usage
import baton.scheduler.Schedule
import baton.scheduler.TaskScheduler
import baton.scheduler.Trigger
import baton.sync.Mutex
import baton.sync.Semaphore
import baton.sync.WaitGroup
import baton.sync.withLock
import baton.test.BatonAssertions
import baton.test.NoLeaksExtension
import baton.test.NoLeaksSpecExtension
import baton.test.assertNoLeaks
import baton.test.shouldBeIdle
import kotlin.time.Duration.Companion.days
import kotlin.time.Duration.Companion.minutes
import kotlin.time.Duration.Companion.seconds
import kotlinx.coroutines.CoroutineName
import kotlinx.coroutines.Dispatchers
import kotlinx.coroutines.awaitCancellation
import kotlinx.coroutines.delay
import kotlinx.coroutines.launch
import kotlinx.coroutines.runBlocking
import kotlinx.coroutines.test.runCurrent
import kotlinx.coroutines.test.runTest
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertSame
import org.junit.jupiter.api.Test
import org.junit.jupiter.api.assertThrows

class NoLeaksTest {
    private val semaphore = Semaphore(3, name = "uplink")
    private val ofSeveral = " (holders are recorded of one permit alone: try Semaphore(1))"

    @Test
    fun block_thatGivesAllBack_returnsItsValue() = runTest {
        semaphore.acquire()
        val value =
            assertNoLeaks(semaphore) {
                semaphore.acquire(2)
                delay(5.seconds)
                semaphore.release(3)
                "value"
            }
        assertEquals("value", value)
    }

    @Test
    fun noObjects_isRefused_andTheBlockDoesNotRun() {
        val message = "no objects to look at: name those at which nothing may be left"
        val refusal = assertThrows<IllegalArgumentException> { assertNoLeaks { semaphore.tryAcquire() } }
        assertEquals(message, refusal.message)
        assertEquals(3, semaphore.availablePermits)
        for (make in listOf<() -> Any>({ NoLeaksExtension() }, { NoLeaksSpecExtension() })) {
            assertEquals(message, assertThrows<IllegalArgumentException> { make() }.message)
        }
        val java =
            assertThrows<IllegalArgumentException> {
                BatonAssertions.assertNoLeaks<Exception>({ semaphore.tryAcquire() })
            }
        assertEquals(listOf(message, 3), listOf(java.message, semaphore.availablePermits))
    }

    @Test
    fun permit_thatWasHeldBefore_isNoLeak() {
        semaphore.tryAcquire()
        assertNoLeaks(semaphore) {}
        val error = assertThrows<AssertionError> { assertNoLeaks(semaphore) { semaphore.tryAcquire() } }
        assertEquals("left behind:\n$semaphore\n  permits held: 2, before: 1$ofSeveral", error.message)
    }

    @Test
    fun leaks_ofAllObjects_areInOneError() = runTest {
        val mutex = Mutex(locked = true)
        val idle = Mutex()
        val channel = Channel<Int>(1)
        val group = WaitGroup()
        val tasks = TaskScheduler(backgroundScope, 1, name = "tasks")
        val schedule = Schedule<String>(name = "checks") {}
        val error =
            assertThrows<AssertionError> {
                assertNoLeaks(semaphore, mutex, idle, channel, group, tasks, schedule) {
                    semaphore.acquire()
                    backgroundScope.launch(CoroutineName("late")) { mutex.withLock {} }
                    channel.send(1)
                    group.add(2)
                    repeat(2) { tasks.schedule(key = "t$it") { awaitCancellation() } }
                    schedule.put("a", Trigger.every(1.days))
                    idle.withLock {}
                    runCurrent()
                }
            }
        val expected =
            listOf(
                "left behind:",
                "$semaphore",
                "  permits held: 1$ofSeveral",
                "$mutex",
                "  callers waiting: 1, late",
                "$channel",
                "  elements not received: 1",
                "$group",
                "  pieces of work not done: 2",
                "$tasks",
                "  tasks running: 1",
                "  tasks waiting: 1, ScheduledTask 't1'",
                "$schedule",
                "  entries: 1",
            )
        assertEquals(expected, error.message!!.lines())
    }

    @Test
    fun block_thatFails_hasTheLeaksAsSuppressed() {
        val failure = IllegalStateException("wrong")
        val thrown =
            assertThrows<IllegalStateException> {
                assertNoLeaks(semaphore) {
                    semaphore.tryAcquire()
                    throw failure
                }
            }
        assertSame(failure, thrown)
        assertEquals(
            listOf("left behind:\n$semaphore\n  permits held: 1$ofSeveral"),
            thrown.suppressed.map { it.message },
        )
    }

    private fun returnFromWithin(): Int {
        assertNoLeaks(semaphore) {
            semaphore.tryAcquire()
            return 1
        }
    }

    @Test
    fun block_thatReturnsFromTheFunctionAround_isCheckedToo() {
        assertThrows<AssertionError> { returnFromWithin() }
    }

    @Test
    fun object_thatIsNotMonitored_isRefusedBeforeTheBlock() {
        assertThrows<IllegalArgumentException> { assertNoLeaks("text") { error("ran") } }
    }

    @Test
    fun block_whoseThreadTakesItsLastStepLater_isWaitedForWithPatience() {
        assertNoLeaks(semaphore, patience = 2.minutes) {
            semaphore.tryAcquire()
            Thread { semaphore.release() }.start()
        }
        semaphore.shouldBeIdle()
    }

    @Test
    fun block_thatFails_isThrownAlsoIfTheLookFails() {
        var isBroken = false
        val pool =
            object : Monitored {
                override val name = "pool"

                override fun usage() = if (isBroken) error("no usage") else Usage(0, 1)
            }
        val failure = IllegalStateException("wrong")
        val thrown =
            assertThrows<IllegalStateException> {
                assertNoLeaks(pool) {
                    isBroken = true
                    throw failure
                }
            }
        assertEquals(listOf(failure, "no usage"), listOf(thrown, thrown.suppressed.single().message))
    }

    @Test
    fun suspendingForm_onThreads_compiles() {
        runBlocking(Dispatchers.Default) {
            assertNoLeaks(semaphore) { semaphore.acquire().also { semaphore.release() } }
        }
    }
}
