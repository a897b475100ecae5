package baton.channels

import baton.sync.assertContains
import kotlinx.coroutines.CancellationException
import kotlinx.coroutines.CompletableDeferred
import kotlinx.coroutines.CoroutineScope
import kotlinx.coroutines.Job
import kotlinx.coroutines.NonCancellable
import kotlinx.coroutines.SupervisorJob
import kotlinx.coroutines.awaitCancellation
import kotlinx.coroutines.cancel
import kotlinx.coroutines.coroutineScope
import kotlinx.coroutines.job
import kotlinx.coroutines.launch
import kotlinx.coroutines.test.runCurrent
import kotlinx.coroutines.test.runTest
import kotlinx.coroutines.withContext
import kotlinx.coroutines.yield
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertFalse
import org.junit.jupiter.api.Assertions.assertInstanceOf
import org.junit.jupiter.api.Assertions.assertNull
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.api.Test
import org.junit.jupiter.api.assertThrows

class ProduceTest {
    private suspend fun CoroutineScope.inner(block: suspend CoroutineScope.() -> Unit): Throwable? =
        CoroutineScope(coroutineContext + SupervisorJob(coroutineContext.job)).run {
            val failure = runCatching { coroutineScope(block) }.exceptionOrNull()
            cancel()
            failure
        }

    @Test
    fun block_returns_closesTheChannelWhenItsChildrenHaveEnded() = runTest {
        val numbers = produce {
            launch {
                yield()
                send(2)
            }
            send(1)
        }
        assertEquals(listOf(1, 2), numbers.toList())
        assertTrue(numbers.isClosedForReceive)
        assertTrue(numbers.receiveCatching().isClosed)
    }

    @Test
    fun buffer_ofAProducerThatHasEnded_canBeReceived() = runTest {
        val numbers = produce(capacity = 3) { repeat(3) { send(it) } }
        runCurrent()
        assertEquals(3, numbers.size)
        assertEquals(listOf(0, 1, 2), numbers.toList())
    }

    @Test
    fun block_fails_closesTheChannelWithTheCauseAndFailsTheScope() = runTest {
        val got = mutableListOf<Int>()
        lateinit var numbers: ReceiveChannel<Int>
        val failure = inner {
            numbers =
                produce(capacity = 1) {
                    send(1)
                    throw ArithmeticException("why")
                }
        }
        assertInstanceOf(ArithmeticException::class.java, failure)
        assertThrows<ArithmeticException> { for (number in numbers) got += number }
        assertEquals(listOf(1), got)
        assertContains(assertThrows<ChannelClosedException> { numbers.receive() }.cause?.message, "why")
    }

    /** At each point of the producer: before it starts, while it sends, between two sends, and after its end. */
    @Test
    fun channel_cancelledAfterAnyElement_endsTheProducerQuietly() = runTest {
        for (capacity in listOf(0, 1, 5)) {
            for (taken in 0..5) {
                var hasEnded = false
                lateinit var producer: Job
                val failure = inner {
                    val numbers =
                        produce(capacity = capacity) {
                            producer = coroutineContext.job
                            try {
                                repeat(5) { send(it) }
                            } finally {
                                hasEnded = true
                            }
                        }
                    repeat(taken) { assertEquals(it, numbers.receive()) }
                    if (taken > 0 || capacity > 0) runCurrent()
                    numbers.cancel()
                    runCurrent()
                    assertTrue(numbers.receiveCatching().isClosed)
                    yield()
                }
                assertNull(failure, "capacity = $capacity, taken = $taken")
                if (taken > 0) assertTrue(hasEnded && producer.isCompleted)
            }
        }
    }

    @Test
    fun channel_cancelledBeforeTheProducerRan_neverRunsIt() = runTest {
        var hasRun = false
        produce<Int> { hasRun = true }.cancel()
        runCurrent()
        assertFalse(hasRun)
    }

    /** kotlinx's sends throw a CancellationException then, which is no failure of the coroutine. */
    @Test
    fun children_thatSendAfterTheCancel_doNotFailTheScope() = runTest {
        val failure = inner {
            val numbers =
                produce<Int> {
                    launch {
                        try {
                            awaitCancellation()
                        } finally {
                            send(1)
                        }
                    }
                    try {
                        send(0)
                    } catch (e: CancellationException) {
                        send(1)
                    }
                }
            runCurrent()
            numbers.cancel()
            runCurrent()
            yield()
        }
        assertNull(failure)
    }

    @Test
    fun block_failsWhileItIsCancelled_failsTheScope() = runTest {
        val failure = inner {
            val numbers = produce {
                try {
                    send(1)
                } finally {
                    throw ArithmeticException("why")
                }
            }
            runCurrent()
            numbers.cancel()
        }
        assertInstanceOf(ArithmeticException::class.java, failure)
    }

    /** The send is refused, and `use` attaches the failure of `close` to that. */
    @Test
    fun resource_failsToCloseAfterARefusedSend_failsTheScope() = runTest {
        val failure = inner {
            val computes = CompletableDeferred<Unit>()
            lateinit var numbers: ReceiveChannel<Int>
            numbers = produce {
                AutoCloseable { throw IllegalStateException("disk full") }
                    .use {
                        withContext(NonCancellable) { computes.await() }
                        send(1)
                    }
            }
            runCurrent()
            numbers.cancel()
            computes.complete(Unit)
        }
        assertContains(failure?.stackTraceToString().orEmpty(), "disk full")
    }

    @Test
    fun block_closesTheChannelItself_endsItForReceiversAndGoesOn() = runTest {
        val gone = CompletableDeferred<Unit>()
        val numbers = produce {
            send(1)
            close()
            gone.await()
            assertFalse(close())
        }
        assertEquals(1, numbers.receive())
        for (number in numbers) error("$number")
        assertTrue(coroutineContext.job.children.any { it.isActive })
        gone.complete(Unit)
    }

    /** The consumer is elsewhere and not cancelled. That not all elements have come must not look like the end. */
    @Test
    fun scope_cancelled_cancelsTheProducerAndConsumersGetAnException() = runTest {
        for (hasStarted in listOf(false, true)) {
            val scope = CoroutineScope(coroutineContext + Job(coroutineContext.job))
            var hasEnded = !hasStarted
            val numbers =
                scope.produce(capacity = 1) {
                    try {
                        send(1)
                        send(2)
                    } finally {
                        hasEnded = true
                    }
                }
            if (hasStarted) runCurrent()
            scope.cancel("going down")
            runCurrent()
            assertTrue(hasEnded && (numbers as Channel).isClosed)
            assertEquals(if (hasStarted) 1 else 0, numbers.size)
            val got = mutableListOf<Int>()
            val e = assertThrows<ChannelClosedException> { for (number in numbers) got += number }
            assertInstanceOf(CancellationException::class.java, e.cause)
            assertEquals(if (hasStarted) listOf(1) else listOf(), got)
        }
    }

    @Test
    fun parameters_areThoseOfTheChannel() = runTest {
        val dropped = mutableListOf<Int>()
        val latest =
            produce(capacity = 1, onFull = OnFull.DROP_OLDEST, name = "latest", onDropped = { dropped += it }) {
                repeat(3) { send(it) }
            }
        runCurrent()
        assertContains("$latest", "Channel 'latest'")
        assertEquals(listOf(2), latest.toList())
        assertEquals(listOf(0, 1), dropped)
        assertThrows<IllegalArgumentException> { produce<Int>(capacity = -1) {} }
        assertTrue(coroutineContext.job.children.none())
    }

    @Test
    fun consume_endsInAnyWay_cancelsTheChannel() = runTest {
        val endless = suspend { produce { while (true) send(1) } }
        val why = ArithmeticException("why")
        val first = endless().also { assertEquals(1, it.consume { receive() }) }
        val second =
            endless().also { assertEquals(why, assertThrows<ArithmeticException> { it.consume { throw why } }) }
        val third = endless().also { assertThrows<ArithmeticException> { it.consumeEach { throw why } } }
        runCurrent()
        assertTrue(coroutineContext.job.children.none())
        for (channel in listOf(first, second, third)) assertTrue(channel.receiveCatching().isClosed)
        assertNull(first.receiveCatching().exceptionOrNull())
        assertEquals(why, second.receiveCatching().exceptionOrNull())
    }

    @Test
    fun toList_ofAChannelThatFails_throwsTheCause() = runTest {
        val channel = Channel<Int>(1).also { it.send(1) }
        channel.close(ArithmeticException("why"))
        assertThrows<ArithmeticException> { channel.toList() }
        assertEquals(0, channel.size)
    }
}
