package baton.channels

import baton.Priority
import kotlin.time.Duration
import kotlin.time.Duration.Companion.seconds
import kotlinx.coroutines.channels.Channel as KotlinxChannel
import kotlinx.coroutines.flow.flowOf
import kotlinx.coroutines.flow.toList
import kotlinx.coroutines.selects.select
import kotlinx.coroutines.test.runTest
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertSame
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.api.Test

/** A decorator sees what goes through the members that it overrides; the rest is that of the channel inside. */
class DecoratedChannelTest {
    private val log = mutableListOf<String>()

    private fun log(text: String) {
        log += text
    }

    private fun logged() = log.joinToString(", ").also { log.clear() }

    /** One class for both sides, which overrides nothing. */
    private class Plain<E>(inner: Channel<E>) : SendChannel<E> by inner, ReceiveChannel<E> by inner

    private inner class LoggedSender<E>(private val inner: SendChannel<E>) : SendChannel<E> by inner {
        override suspend fun send(element: E) = inner.send(element).also { log("sent $element") }
    }

    private inner class Logged<E>(private val inner: Channel<E>) : SendChannel<E> by inner, ReceiveChannel<E> by inner {
        override suspend fun send(element: E) = send(element, null)

        override suspend fun send(element: E, priority: Priority?) {
            inner.send(element, priority)
            log("sent $element")
        }

        override fun trySend(element: E) = trySend(element, null)

        override fun trySend(element: E, priority: Priority?) =
            inner.trySend(element, priority).onSuccess { log("sent $element") }

        override suspend fun trySend(element: E, timeout: Duration, priority: Priority?) =
            inner.trySend(element, timeout, priority).onSuccess { log("sent $element") }

        override suspend fun receive() = inner.receive().also { log("received $it") }

        override suspend fun receiveCatching() = inner.receiveCatching().onSuccess { log("received $it") }

        override suspend fun receiveUpTo(limit: Int) = inner.receiveUpTo(limit).onEach { log("received $it") }

        override fun tryReceive() = inner.tryReceive().onSuccess { log("received $it") }

        override suspend fun tryReceive(timeout: Duration) = inner.tryReceive(timeout).onSuccess { log("received $it") }

        override fun iterator() = ChannelIterator(this)

        override fun close(cause: Throwable?) = inner.close(cause).also { log("closed") }
    }

    private val channel = Channel<Int>(10)
    private val decorated = Logged(channel)

    private fun filled(): Logged<Int> {
        for (n in 1..3) channel.trySend(n)
        return decorated
    }

    @Test
    fun members_thatAreOverridden_areSeen() = runTest {
        decorated.send(1)
        decorated.send(2, Priority.HIGH)
        decorated.trySend(3)
        decorated.trySend(4, Priority.LOW)
        decorated.trySend(5, 1.seconds)
        flowOf(6, 7).sendTo(decorated)
        assertEquals((1..7).joinToString(", ") { "sent $it" }, logged())
        assertEquals(1, decorated.receive())
        assertEquals(2, decorated.receiveOrNull())
        assertEquals(3, decorated.tryReceive().getOrNull())
        assertEquals(4, decorated.tryReceive(1.seconds).getOrNull())
        assertEquals(listOf(5, 6, 7), decorated.receiveUpTo(9))
        assertEquals((1..7).joinToString(", ") { "received $it" }, logged())
        assertTrue(decorated.close())
        assertEquals("closed", logged())
        assertTrue(decorated.isClosedForSend && decorated.isClosedForReceive)
        val sender = LoggedSender(Channel<Int>(1))
        sender.send(1)
        assertEquals("sent 1", logged())
    }

    @Test
    fun iterationsAndFlows_ofADecoratorWithItsIterator_goThroughIt() = runTest {
        val all = "received 1, received 2, received 3"
        channel.close()
        suspend fun each(name: String, use: suspend (ReceiveChannel<Int>) -> Unit) {
            val inner = Channel<Int>(3).also { inner -> (1..3).forEach { inner.trySend(it) } }
            inner.close()
            use(Logged(inner))
            assertEquals(all, logged(), name)
            assertTrue(inner.isClosedForReceive, name)
        }
        each("for") { for (n in it) assertTrue(n in 1..3) }
        each("asFlow") { assertEquals(listOf(1, 2, 3), it.asFlow().toList()) }
        each("receiveAsFlow") { assertEquals(listOf(1, 2, 3), it.receiveAsFlow().toList()) }
        each("consumeAsFlow") { assertEquals(listOf(1, 2, 3), it.consumeAsFlow().toList()) }
        each("consumeEach") { source -> source.consumeEach { assertTrue(it in 1..3) } }
        each("toList") { assertEquals(listOf(1, 2, 3), it.toList()) }
        each("sendTo") { it.sendTo(KotlinxChannel(KotlinxChannel.UNLIMITED)) }
    }

    @Test
    fun iterator_ofADecorator_endsAsTheChannelDoes() = runTest {
        channel.close(IllegalStateException("why"))
        assertEquals("why", runCatching { for (n in filled()) error("$n") }.exceptionOrNull()?.message)
        val cancelled = Channel<Int>()
        cancelled.cancel()
        for (n in Logged(cancelled)) error("$n")
        assertEquals("", logged())
    }

    /** The calls that a decorator does not see, as the documentation says. */
    @Test
    fun clausesAndReservations_bypassTheDecorator() = runTest {
        filled()
        assertEquals(1, select { decorated.onReceive { it } })
        assertEquals(2, select { decorated.onReceiveCatching { it.getOrThrow() } })
        val inClause = select<SendChannel<Int>> { decorated.onSend(4) { it } }
        assertSame(channel, inClause)
        decorated.reserve().send(5)
        decorated.tryReserve()?.send(6)
        decorated.tryReserve(1.seconds)?.send(7)
        KotlinxChannel<Int>(1).let { other ->
            other.trySend(8)
            other.close()
            other.sendTo(decorated) {} // It reserves its places.
        }
        assertEquals("", logged())
        assertEquals(listOf(3, 4, 5, 6, 7, 8), decorated.receiveUpTo(9))
    }

    @Test
    fun decorator_thatOverridesNothing_isTheChannel() = runTest {
        val plain = Plain(channel)
        plain.send(1)
        assertEquals(listOf(10, 9, 1), listOf(plain.capacity, plain.remainingCapacity, plain.size))
        for (n in plain) if (n == 1) break
        var cause: Throwable? = null
        plain.invokeOnClose { cause = it }
        plain.cancel(IllegalStateException("why"))
        assertEquals("why", cause?.message)
        assertTrue(plain.isClosedForReceive)
    }
}
