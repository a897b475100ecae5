package baton.channels

import baton.NOW_OR_NEVER
import baton.sync.assertContains
import baton.waiting.Callers
import kotlin.time.Duration.Companion.milliseconds
import kotlinx.coroutines.test.runCurrent
import kotlinx.coroutines.test.runTest
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertFalse
import org.junit.jupiter.api.Assertions.assertNotEquals
import org.junit.jupiter.api.Assertions.assertNull
import org.junit.jupiter.api.Assertions.assertSame
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.api.Test
import org.junit.jupiter.api.assertThrows

class ChannelResultTest {
    private val channel = Channel<Any?>(1, name = "jobs")

    private val timeouts = NOW_OR_NEVER + 1.milliseconds

    private fun assertResult(result: ChannelResult<*>, isSuccess: Boolean, isClosed: Boolean, element: Any?) {
        assertEquals(
            listOf(isSuccess, !isSuccess, isClosed, element),
            listOf(result.isSuccess, result.isFailure, result.isClosed, result.getOrNull()),
        )
    }

    private fun assertFailed(result: ChannelResult<*>) {
        assertResult(result, isSuccess = false, isClosed = false, null)
        assertNull(result.exceptionOrNull())
        assertFalse(assertThrows<IllegalStateException> { result.getOrThrow() } is ChannelClosedException)
        assertEquals("Failed", "$result")
    }

    private fun assertClosed(result: ChannelResult<*>, why: Throwable?) {
        assertResult(result, isSuccess = false, isClosed = true, null)
        assertSame(why, result.exceptionOrNull())
        assertSame(why, assertThrows<ChannelClosedException> { result.getOrThrow() }.cause)
        assertContains("$result", "Closed", "jobs")
    }

    private fun assertSuccess(result: ChannelResult<*>, element: Any?) {
        assertResult(result, isSuccess = true, isClosed = false, element)
        assertEquals(element, result.getOrThrow())
        assertNull(result.exceptionOrNull())
        assertEquals("Success($element)", "$result")
    }

    @Test
    fun tries_emptyOrFull_failed() = runTest {
        assertFailed(channel.tryReceive())
        for (timeout in timeouts) assertFailed(channel.tryReceive(timeout))
        channel.send(1)
        assertFailed(channel.trySend(2))
        for (timeout in timeouts) assertFailed(channel.trySend(2, timeout))
    }

    @Test
    fun tries_closedBeforeOrWhileTheyWait_closed() = runTest {
        val full = Channel<Any?>(0, name = "jobs")
        val results = mutableListOf<ChannelResult<*>>()
        Callers(this).call { results += channel.receiveCatching() }
        Callers(this).call { results += channel.tryReceive(1.milliseconds) }
        Callers(this).call { results += full.trySend(1, 1.milliseconds) }
        val why = RuntimeException("why")
        for (each in listOf(channel, full)) each.close(why)
        runCurrent()
        assertEquals(3, results.size)
        results += listOf(channel.trySend(1), channel.trySend(1, 1.milliseconds), channel.tryReceive())
        results += listOf(channel.tryReceive(1.milliseconds), channel.receiveCatching())
        for (result in results) assertClosed(result, why)
    }

    /** Also elements that look like a result of the channel itself. */
    @Test
    fun elements_ofAnyKind_comeOutAsTheyWentIn() = runTest {
        val failed = channel.tryReceive()
        for (element in listOf(null, Unit, false, true, 7, failed, Result.failure<Int>(RuntimeException()))) {
            assertSuccess(channel.trySend(element), Unit)
            assertSuccess(channel.tryReceive(), element)
            assertSuccess(channel.trySend(element, 1.milliseconds), Unit)
            assertSuccess(channel.tryReceive(1.milliseconds), element)
            channel.send(element)
            assertEquals(element, channel.receive())

            val waiting =
                listOf<suspend () -> Unit>(
                        { assertEquals(element, channel.receive()) },
                        { assertSuccess(channel.receiveCatching(), element) },
                        { assertSuccess(channel.tryReceive(1.milliseconds), element) },
                    )
                    .map { Callers(this).call(request = it) }
            repeat(3) { channel.send(element) }
            runCurrent()
            assertTrue(waiting.all { it.isServed }, "$waiting")
        }
    }

    @Test
    fun valueClass_isBoxedAndUnboxedRightly() = runTest {
        val numbers = Channel<UInt>(1)
        numbers.send(7u)
        assertEquals(7u, numbers.receive())
        val got = mutableListOf<UInt>()
        Callers(this).call { got += numbers.receive() }
        Callers(this).call { got += numbers.receiveCatching().getOrThrow() }
        for (number in listOf(8u, 9u)) numbers.send(number)
        runCurrent()
        assertEquals(listOf(8u, 9u), got)
    }

    private fun <T> handled(result: ChannelResult<T>): List<Any?> {
        val calls = mutableListOf<Any?>()
        val same =
            result
                .onSuccess { calls += "success" to it }
                .onFailure { calls += "failure" to (it == null) }
                .onClosed { calls += "closed" to it }
        assertEquals(result, same)
        return calls
    }

    @Test
    fun handlers_areCalledForTheirKindOfResult() {
        val why = RuntimeException("why")
        assertEquals(listOf("failure" to true), handled(channel.tryReceive()))
        assertEquals("else", channel.tryReceive().getOrElse { "else".takeIf { _ -> it == null } })
        for (element in listOf(null, 7)) {
            channel.trySend(element)
            assertEquals(listOf("success" to element), handled(channel.tryReceive()))
            channel.trySend(element)
            assertEquals(element, channel.tryReceive().getOrElse { error("$it") })
        }
        channel.close(why)
        assertEquals(listOf("failure" to false, "closed" to why), handled(channel.tryReceive()))
        assertSame(why, channel.tryReceive().getOrElse { it })
    }

    /** Non-local returns and initialised vals compile, because the functions are inline and have contracts. */
    @Test
    fun handlers_mayReturnAndAssign() {
        channel.trySend(1)
        val element: Any?
        element =
            channel.tryReceive().getOrElse {
                return
            }
        assertEquals(1, element)
        channel.tryReceive().onFailure {
            return
        }
        error("not reached")
    }

    @Test
    fun equality_isThatOfTheContents() {
        assertEquals(channel.tryReceive(), channel.tryReceive())
        channel.trySend("a")
        val a = channel.tryReceive()
        channel.trySend("a")
        assertEquals(a, channel.tryReceive())
        assertEquals(a.hashCode(), a.hashCode())
        for (why in listOf(null, RuntimeException("why"))) {
            val closed = Channel<Any?>(1).apply { close(why) }
            assertEquals(closed.tryReceive(), closed.tryReceive())
            assertEquals(closed.tryReceive().hashCode(), closed.tryReceive().hashCode())
            assertNotEquals(channel.tryReceive(), closed.tryReceive())
        }
    }
}
