package baton.channels

import baton.channels.contract.ChannelFace
import baton.channels.contract.KotlinChannelFace
import baton.channels.contract.MixedChannelFace
import baton.channels.contract.SelectChannelFace
import baton.waiting.contract.SuspendingWaiterDispatch
import baton.waiting.contract.WaiterContract
import baton.waiting.contract.WaiterDispatch
import baton.waiting.contract.WaiterTimeouts
import baton.waiting.contract.WaitingKind
import baton.waiting.contract.WaitingPlace
import kotlin.time.Duration
import kotlin.time.Duration.Companion.milliseconds
import kotlinx.coroutines.delay
import kotlinx.coroutines.launch
import kotlinx.coroutines.test.runTest
import kotlinx.coroutines.withTimeoutOrNull
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertFalse
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.api.Test

/** To wait at a channel by a suspend function: for an element, or for a place. A sender has its element with it. */
class ChannelWaiterTest : WaiterContract, WaiterTimeouts, SuspendingWaiterDispatch {
    override val waitingKinds: List<WaitingKind> =
        listOf(
            kind("receive, rendezvous", keepsGrant = false) { Receiving(Channel(), ::KotlinChannelFace) },
            kind("receive, buffered") { Receiving(Channel(1), ::KotlinChannelFace) },
            kind("reserve") { Reserving(Channel(1)) },
        )

    /** python/asyncio #343, cpython #112202: a timeout around the get swallowed the item of that very moment. */
    @Test
    fun receive_polledAtTheVeryRhythmOfTheSender_losesNothing() = runTest {
        val polls =
            listOf<suspend (Channel<Int>) -> Int?>(
                { it.tryReceive(3.milliseconds).getOrNull() },
                { withTimeoutOrNull(3.milliseconds) { it.receiveOrNull() } },
            )
        for (poll in polls) {
            val channel = Channel<Int>(Channel.UNLIMITED)
            launch {
                for (i in 1..100) {
                    delay(3)
                    channel.send(i)
                }
                channel.close()
            }
            val received = mutableListOf<Int>()
            while (!channel.isClosed || channel.size > 0) received += poll(channel) ?: continue
            assertEquals((1..100).toList(), received)
        }
    }
}

/** In a `select`: for an element, or for the place of an element that goes in when the select resumes. */
class ChannelSelectWaiterTest : WaiterContract, WaiterTimeouts, WaiterDispatch {
    override val waitingKinds: List<WaitingKind> =
        listOf(
            kind("receive", keepsGrant = false) { Receiving(Channel(), ::SelectChannelFace) },
            kind("receive in one queue with suspend functions") { Receiving(Channel(1), ::MixedChannelFace) },
            kind("send") { Sending(Channel(1)) },
        )
}

private fun kind(name: String, keepsGrant: Boolean = true, create: () -> WaitingPlace) =
    WaitingKind(name, keepsGrant = keepsGrant, closed = ChannelClosedException::class.java, create = create)

/** A grant sends an element. */
private class Receiving(private val channel: Channel<String>, face: (Channel<String>) -> ChannelFace) : WaitingPlace {
    private val face = face(channel)
    private var sent = 0
    private var received = 0

    override val waiting
        get() = channel.waiting

    override suspend fun waitHere() {
        face.receive()
        received++
    }

    override suspend fun waitHere(timeout: Duration): Boolean {
        face.tryReceive(timeout) ?: return false
        received++
        return true
    }

    override fun grant() {
        if (channel.trySend("$sent").isSuccess) sent++
    }

    override fun close(cause: Throwable?) {
        channel.close(cause)
    }

    /** Nothing is lost, and nothing received twice. */
    override fun assertIdle(holders: Int) {
        assertEquals("0 wait, ${sent - received} inside", "$waiting wait, ${channel.size} inside")
    }
}

/** A grant gives a place back. */
private class Reserving(private val channel: Channel<String>) : WaitingPlace {
    private val held = ArrayDeque(listOf(checkNotNull(channel.tryReserve())))

    override val waiting
        get() = channel.waiting

    override suspend fun waitHere() {
        held += channel.reserve()
    }

    override suspend fun waitHere(timeout: Duration): Boolean {
        held += channel.tryReserve(timeout) ?: return false
        return true
    }

    override fun grant() {
        held.removeFirstOrNull()?.close()
    }

    override fun close(cause: Throwable?) {
        channel.close(cause)
    }

    override fun assertIdle(holders: Int) {
        assertEquals(0, waiting)
        while (held.isNotEmpty()) held.removeFirst().close()
        if (channel.isClosed) return
        assertTrue(channel.trySend("a").isSuccess, "a place is missing")
        assertFalse(channel.trySend("b").isSuccess, "a place too many")
        channel.tryReceive()
    }
}

/** A grant receives an element. */
private class Sending(private val channel: Channel<String>) : WaitingPlace {
    private val face = SelectChannelFace(channel)
    private var inside = 1

    init {
        channel.trySend("first")
    }

    override val waiting
        get() = channel.waiting

    override suspend fun waitHere() {
        face.send("x")
        inside++
    }

    override suspend fun waitHere(timeout: Duration): Boolean = face.trySend("x", timeout).also { if (it) inside++ }

    override fun grant() {
        if (channel.tryReceive().isSuccess) inside--
    }

    override fun close(cause: Throwable?) {
        channel.close(cause)
    }

    override fun assertIdle(holders: Int) {
        assertEquals("0 wait, $inside inside", "$waiting wait, ${channel.size} inside")
        if (channel.isClosed) return
        while (channel.tryReceive().isSuccess) inside--
        assertTrue(channel.trySend("a").isSuccess, "a place is missing")
        assertFalse(channel.trySend("b").isSuccess, "a place too many")
    }
}
