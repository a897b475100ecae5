package baton.waiting.flight

import baton.channels.Channel
import baton.resilience.CircuitBreaker
import baton.resilience.CircuitOpenException
import baton.resilience.Rate
import baton.resilience.RateLimitedException
import baton.resilience.RateLimiter
import baton.sync.Mutex
import baton.sync.Semaphore
import baton.sync.SemaphoreClosedException
import baton.sync.withLock
import baton.waiting.ThreadWaiter
import java.nio.file.Path
import java.time.Duration
import java.util.concurrent.TimeUnit
import jdk.jfr.Recording
import jdk.jfr.consumer.RecordedEvent
import jdk.jfr.consumer.RecordingFile
import kotlin.concurrent.thread
import kotlin.time.Duration.Companion.milliseconds
import kotlin.time.Duration.Companion.seconds
import kotlinx.coroutines.CoroutineName
import kotlinx.coroutines.CoroutineStart
import kotlinx.coroutines.launch
import kotlinx.coroutines.runBlocking
import kotlinx.coroutines.yield
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.api.Tag
import org.junit.jupiter.api.Test
import org.junit.jupiter.api.assertThrows
import org.junit.jupiter.api.io.TempDir

/** The events in a recording of the JDK Flight Recorder. */
@Tag("jdk")
class FlightEventsTest {
    @TempDir lateinit var folder: Path

    /** The events of this library by [name], as their fields. */
    private fun record(
        name: String,
        settings: Recording.() -> Unit = { enable(name).withThreshold(Duration.ZERO) },
        block: () -> Unit,
    ): List<List<String?>> {
        val file = folder.resolve("$name.jfr")
        Recording().use {
            it.settings()
            it.start()
            block()
            it.stop()
            it.dump(file)
        }
        return RecordingFile.readAllEvents(file).filter { it.eventType.name == name }.map(::textsOf)
    }

    private fun textsOf(event: RecordedEvent) =
        event.fields
            .map { it.name }
            .filter { it !in setOf("startTime", "duration", "eventThread", "stackTrace", "exception") }
            .map { event.getString(it) }

    @Test
    fun waitsOfCoroutines_areRecorded_withNameAndOutcome() {
        val events =
            record("baton.Wait") {
                runBlocking {
                    val mutex = Mutex(locked = true, name = "account")
                    val waiters =
                        listOf("granted", "cancelled").map { name ->
                            launch(CoroutineName(name), CoroutineStart.UNDISPATCHED) { mutex.withLock {} }
                        }
                    val late =
                        launch(CoroutineName("late"), CoroutineStart.UNDISPATCHED) { mutex.tryLock(1.milliseconds) }
                    late.join()
                    waiters[1].cancel()
                    waiters[1].join()
                    mutex.unlock()
                }
            }
        val expected =
            listOf(
                listOf("Mutex 'account'", "lock", "late", "timed out"),
                listOf("Mutex 'account'", "lock", "cancelled", "cancelled"),
                listOf("Mutex 'account'", "lock", "granted", "granted"),
            )
        assertEquals(expected.toSet(), events.toSet())
    }

    @Test
    fun waitThatFails_isRecorded_withTheException() {
        val events =
            record("baton.Wait") {
                runBlocking {
                    val semaphore = Semaphore(1, acquired = 1, name = "uplink")
                    launch(CoroutineName("client"), CoroutineStart.UNDISPATCHED) {
                        assertThrows<SemaphoreClosedException> { semaphore.acquire() }
                    }
                    semaphore.close()
                }
            }
        val (primitive, call, caller, outcome) = events.single()
        assertEquals(listOf("Semaphore 'uplink'", "acquire", "client"), listOf(primitive, call, caller))
        assertEquals("baton.sync.SemaphoreClosedException", outcome)
    }

    @Test
    fun value_thatIsFalse_orWhoseEqualsThrows_isGranted() {
        class Hostile {
            override fun equals(other: Any?) = error("equals")

            override fun hashCode() = 0
        }
        val events =
            record("baton.Wait") {
                runBlocking {
                    val channel = Channel<Any>(name = "values")
                    val hostile = Hostile()
                    val received = ArrayList<Any>()
                    launch(CoroutineName("consumer"), CoroutineStart.UNDISPATCHED) {
                        repeat(2) { received += channel.receive() }
                    }
                    channel.send(false)
                    channel.send(hostile)
                    while (received.size < 2) yield()
                    assertTrue(received[0] == false && received[1] === hostile)
                }
            }
        assertEquals(setOf("granted"), events.map { it.last() }.toSet())
    }

    @Test
    fun owner_whoseNameThrows_goesOn_withoutAnEvent() {
        class Nameless {
            override fun toString() = throw StackOverflowError("toString")
        }
        record("baton.Wait") {
            runBlocking {
                val mutex = Mutex(locked = true)
                val owner = Nameless()
                val waiter = launch(start = CoroutineStart.UNDISPATCHED) { mutex.lock(owner) }
                mutex.unlock()
                waiter.join()
                assertTrue(mutex.holdsLock(owner))
            }
        }
    }

    @Test
    fun waitsOfThreads_areRecorded() {
        val events =
            record("baton.Wait") {
                val mutex = Mutex(locked = true, name = "blocking")
                val waiter =
                    thread(name = "worker") {
                        ThreadWaiter(mutex.core, 1, null, mutex).await()
                        mutex.unlock()
                    }
                while (mutex.waiting == 0) Thread.onSpinWait()
                ThreadWaiter(mutex.core, 1, null, mutex).await(TimeUnit.MILLISECONDS.toNanos(1))
                mutex.unlock()
                waiter.join()
            }
        assertTrue(listOf("Mutex 'blocking'", "lock", "worker", "granted") in events) { "$events" }
        assertEquals(1, events.count { it.last() == "timed out" })
    }

    @Test
    fun shortWait_underTheThreshold_isNotRecorded() {
        val events =
            record("baton.Wait", { enable("baton.Wait").withThreshold(Duration.ofDays(1)) }) {
                runBlocking {
                    val mutex = Mutex(locked = true)
                    launch(start = CoroutineStart.UNDISPATCHED) { mutex.withLock {} }
                    mutex.unlock()
                }
            }
        assertEquals(emptyList<Any>(), events)
    }

    @Test
    fun refusals_areRecorded() {
        val events =
            record("baton.Refusal") {
                runBlocking {
                    val breaker = CircuitBreaker(name = "bank").also { it.trip() }
                    assertThrows<CircuitOpenException> { breaker.protect {} }
                    val limiter = RateLimiter.tokenBucket(Rate(1, 1.seconds), maxWaiting = 0, name = "api")
                    limiter.acquire()
                    assertThrows<RateLimitedException> { limiter.acquire() }
                    val semaphore = Semaphore(1, name = "uplink").also { it.close() }
                    assertThrows<SemaphoreClosedException> { semaphore.acquire() }
                }
            }
        assertEquals(listOf("CircuitBreaker 'bank'", "RateLimiter 'api'", "Semaphore 'uplink'"), events.map { it[0] })
        assertEquals("CircuitBreaker 'bank' is forced open", events[0][1])
    }

    @Test
    fun changesOfABreaker_areRecorded_inOrder_withListenersAndWithout() {
        val events =
            record("baton.BreakerState") {
                val breaker = CircuitBreaker(name = "bank")
                breaker.trip()
                breaker.onChange { _, _ -> }
                breaker.reset()
            }
        assertEquals(
            listOf(
                listOf("CircuitBreaker 'bank'", "CLOSED", "FORCED_OPEN"),
                listOf("CircuitBreaker 'bank'", "FORCED_OPEN", "CLOSED"),
            ),
            events,
        )
    }
}
