package baton.channels

import baton.NOW_OR_NEVER
import baton.sync.assertContains
import baton.waiting.Callers
import kotlin.time.Duration
import kotlin.time.Duration.Companion.milliseconds
import kotlinx.coroutines.test.runCurrent
import kotlinx.coroutines.test.runTest
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertFalse
import org.junit.jupiter.api.Assertions.assertNull
import org.junit.jupiter.api.Assertions.assertSame
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.api.Test
import org.junit.jupiter.api.assertThrows

class ChannelResultTest {
    private val channel = Channel<Any?>(1, name = "jobs")

    private fun assertFailed(result: ChannelResult<*>) {
        assertTrue(result.isFailure)
        assertFalse(result.isSuccess)
        assertFalse(result.isClosed)
        assertNull(result.getOrNull())
        assertNull(result.exceptionOrNull())
        assertFalse(assertThrows<IllegalStateException> { result.getOrThrow() } is ChannelClosedException)
        assertEquals("Failed", "$result")
    }

    private fun assertClosed(result: ChannelResult<*>, why: Throwable?) {
        assertTrue(result.isFailure)
        assertTrue(result.isClosed)
        assertFalse(result.isSuccess)
        assertNull(result.getOrNull())
        assertSame(why, result.exceptionOrNull()!!.cause)
        assertSame(result.exceptionOrNull(), assertThrows<ChannelClosedException> { result.getOrThrow() })
        assertContains("$result", "Closed", "jobs")
    }

    private fun assertSuccess(result: ChannelResult<*>, element: Any?) {
        assertTrue(result.isSuccess)
        assertFalse(result.isFailure)
        assertFalse(result.isClosed)
        assertEquals(element, result.getOrNull())
        assertEquals(element, result.getOrThrow())
        assertNull(result.exceptionOrNull())
        assertEquals("Success($element)", "$result")
    }

    @Test
    fun tries_empty_failed() =
        runTest {
            assertFailed(channel.tryReceive())
            for (timeout in NOW_OR_NEVER) assertFailed(channel.tryReceive(timeout))
            assertFailed(channel.tryReceive(1.milliseconds))
        }

    @Test
    fun tries_full_failed() =
        runTest {
            channel.send(1)
            assertFailed(channel.trySend(2))
            for (timeout in NOW_OR_NEVER) assertFailed(channel.trySend(2, timeout))
            assertFailed(channel.trySend(2, 1.milliseconds))
        }

    @Test
    fun tries_closed_closed() =
        runTest {
            val why = RuntimeException("why")
            channel.close(why)
            assertClosed(channel.trySend(1), why)
            assertClosed(channel.trySend(1, 1.milliseconds), why)
            assertClosed(channel.tryReceive(), why)
            assertClosed(channel.tryReceive(1.milliseconds), why)
            assertClosed(channel.receiveCatching(), why)
        }

    @Test
    fun tries_closedWhileTheyWait_closed() =
        runTest {
            val results = mutableListOf<ChannelResult<*>>()
            Callers(this).call { results += channel.receiveCatching() }
            Callers(this).call { results += channel.tryReceive(1.milliseconds) }
            channel.close()
            runCurrent()
            val full = Channel<Any?>(0, name = "jobs")
            Callers(this).call { results += full.trySend(1, 1.milliseconds) }
            full.close()
            runCurrent()
            assertEquals(3, results.size)
            for (result in results) assertClosed(result, null)
        }

    /** Also elements that look like a result of the channel itself. */
    @Test
    fun elements_ofAnyKind_comeOutAsTheyWentIn() =
        runTest {
            val failed = channel.tryReceive()
            for (element in listOf(null, Unit, false, true, 7, failed, Result.failure<Int>(RuntimeException()))) {
                assertSuccess(channel.trySend(element), Unit)
                assertSuccess(channel.tryReceive(), element)
                assertSuccess(channel.trySend(element, 1.milliseconds), Unit)
                assertSuccess(channel.tryReceive(1.milliseconds), element)
                channel.send(element)
                assertEquals(element, channel.receive())

                var got: Any? = "nothing"
                Callers(this).call { got = channel.receive() }
                channel.send(element)
                runCurrent()
                assertEquals(element, got)
                Callers(this).call { assertSuccess(channel.receiveCatching(), element) }
                val timed = Callers(this).call { assertSuccess(channel.tryReceive(1.milliseconds), element) }
                channel.send(element)
                channel.send(element)
                runCurrent()
                assertTrue(timed.isServed, "$timed")
            }
        }

    @Test
    fun valueClass_isBoxedAndUnboxedRightly() =
        runTest {
            val numbers = Channel<UInt>(1)
            numbers.send(7u)
            assertEquals(7u, numbers.receive())
            var got = 0u
            Callers(this).call { got = numbers.receive() }
            numbers.send(8u)
            runCurrent()
            assertEquals(8u, got)
            Callers(this).call { got = numbers.receiveCatching().getOrThrow() }
            numbers.send(9u)
            runCurrent()
            assertEquals(9u, got)
        }

    @Test
    fun equality_isThatOfTheContents() {
        assertEquals(channel.tryReceive(), channel.tryReceive())
        channel.trySend("a")
        val a = channel.tryReceive()
        channel.trySend("a")
        assertEquals(a, channel.tryReceive())
        assertEquals(a.hashCode(), a.hashCode())
    }
}
