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
