package baton.channels

import baton.Priority
import kotlin.time.Duration.Companion.milliseconds
import kotlinx.coroutines.launch
import kotlinx.coroutines.test.runCurrent
import kotlinx.coroutines.test.runTest
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertNull
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.api.Test
import org.junit.jupiter.api.assertThrows

/** Places for callers that will not wait for one, or not for long. */
class TryReserveTest {
    private val channel = Channel<String>(1, order = ChannelOrder.PRIORITY)

    @Test
    fun tryReserve_keepsThePlaceOrHoldsNothing() {
        val place = channel.tryReserve()!!
        assertNull(channel.tryReserve())
        assertTrue(channel.trySend("a").isFailure)
        place.close()
        assertTrue(channel.trySend("a").isSuccess)
        assertEquals(0, channel.waiting)
    }

    @Test
    fun reserve_priority_isThatOfTheWaitAndOfTheElement() = runTest {
        val holder = channel.reserve()
        val sent = ArrayList<Priority>()
        for (level in listOf(Priority.LOW, Priority.CRITICAL)) {
            launch {
                val place = channel.reserve(level)
                sent += level
                place.send("$level")
            }
        }
        runCurrent()
        holder.close()
        assertEquals("CRITICAL", channel.receive())
        assertEquals("LOW", channel.receive())
        assertEquals(listOf(Priority.CRITICAL, Priority.LOW), sent)
    }

    @Test
    fun tryReserve_misuse_isRefused() = runTest {
        val rendezvous = Channel<String>(name = "meeting")
        val e = assertThrows<IllegalStateException> { rendezvous.tryReserve() }
        assertTrue("capacity = 0" in e.message!! && "meeting" in e.message!!)
        assertThrows<IllegalStateException> { rendezvous.tryReserve(50.milliseconds) }
        channel.close()
        assertThrows<ChannelClosedException> { channel.tryReserve() }
        assertThrows<ChannelClosedException> { channel.tryReserve(50.milliseconds) }
    }
}
