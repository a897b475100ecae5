package baton.channels

import baton.Priority
import baton.sync.Latch
import baton.sync.Mutex
import baton.sync.ReadWriteLock
import baton.sync.Semaphore
import kotlinx.coroutines.async
import kotlinx.coroutines.flow.toList
import kotlinx.coroutines.selects.select
import kotlinx.coroutines.test.runTest
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertFalse
import org.junit.jupiter.api.Assertions.assertNull
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.api.Test

/** The forms in which users write it. They must go on to compile. */
class ChannelUsageTest {
    @Test
    fun channel_asUsersWriteIt() = runTest {
        val channel = Channel<String>(capacity = 10)
        val dropped = ArrayList<String>()
        Channel<String>(
            capacity = 10,
            order = ChannelOrder.PRIORITY,
            onFull = OnFull.DROP_OLDEST,
            onDropped = { dropped += it },
        )
        channel.send("x")
        channel.send("x", Priority.HIGH)
        channel.trySend("x")
        assertEquals(3, channel.size)
        assertEquals(10, channel.capacity)
        val g: String = channel.receive()
        assertEquals("x", g)
        assertEquals("x", channel.receiveCatching().getOrThrow())
        assertEquals("x", channel.receiveOrNull())
        val r: ChannelResult<String> = channel.tryReceive()
        assertTrue(r.isFailure && !r.isSuccess && !r.isClosed)
        assertNull(r.getOrNull())
        assertNull(r.exceptionOrNull())
        channel.resize(20)
        channel.reserve().send("x")
        assertFalse(channel.isClosed)
        channel.close()
        val rest = ArrayList<String>()
        for (element in channel) rest += element
        assertEquals(listOf("x"), rest + channel.asFlow().toList())
        channel.close(IllegalStateException("why"))
        channel.cancel()
        assertTrue(channel.isClosed)
        assertEquals(emptyList<String>(), dropped)
    }

    private suspend fun sendAll(target: SendChannel<Number>) {
        target.send(1, Priority.HIGH)
        target.trySend(2.5).onFailure { error("$it") }
        target.reserve().send(3L)
        select { target.onSend(4) {} }
        assertEquals(
            listOf<Any>(0, 4, false),
            listOf(target.remainingCapacity, target.capacity, target.isClosedForSend),
        )
        target.close()
    }

    private suspend fun sum(numbers: ReceiveChannel<Number>): Double {
        var sum = numbers.receive().toDouble()
        sum += select<Double> { numbers.onReceive { it.toDouble() } }
        sum += numbers.tryReceive().getOrElse { 0 }.toDouble()
        for (number in numbers) sum += number.toDouble()
        numbers.asFlow().collect { sum += it.toDouble() }
        assertNull(numbers.receiveOrNull())
        numbers.cancel()
        return sum
    }

    @Test
    fun views_asUsersWriteThem() = runTest {
        val numbers = Channel<Number>(4)
        sendAll(numbers)
        assertEquals(10.5, sum(numbers))
        val any = Channel<Any>(4)
        sendAll(any)
        assertEquals(4, any.toList().size)
        val ints: ReceiveChannel<Int> = produce { repeat(5) { send(it) } }
        assertEquals(10.0, sum(ints))
    }

    @Test
    fun capacities_asUsersWriteThem() {
        assertEquals(64, Channel<Int>(Channel.BUFFERED).capacity)
        assertEquals(Int.MAX_VALUE, Channel<Int>(Channel.UNLIMITED).capacity)
        assertEquals(0, Channel<Int>(Channel.RENDEZVOUS).capacity)
        val dropped = ArrayList<Int>()
        for (latest in listOf(Channel(Channel.CONFLATED, "latest", dropped::add), Channel<Int>(Channel.CONFLATED))) {
            assertEquals(OnFull.DROP_OLDEST to 1, latest.onFull to latest.capacity)
            repeat(3) { latest.trySend(it).getOrThrow() }
            assertEquals(2, latest.tryReceive().getOrThrow())
        }
        assertEquals(listOf(0, 1), dropped)
        assertEquals("CONFLATED", "${Channel.CONFLATED}")
    }

    @Test
    fun select_asUsersWriteIt() = runTest {
        val mutex = Mutex(locked = true)
        val semaphore = Semaphore(permits = 10, acquired = 10)
        val rw = ReadWriteLock()
        rw.lockWrite()
        val latch = Latch(count = 3)
        val channel = Channel<String>()
        val received = async { channel.receive() }
        select {
            mutex.onLock {}
            semaphore.onAcquire {}
            semaphore.onAcquire(3) {}
            rw.onRead {}
            rw.onWrite {}
            latch.onAwait {}
            channel.onReceive { element -> assertEquals("never", element) }
            channel.onSend("y") {}
        }
        assertEquals("y", received.await())
    }
}
