package baton.channels

import kotlinx.coroutines.async
import kotlinx.coroutines.test.runCurrent
import kotlinx.coroutines.test.runTest
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.api.Test

/** A receiver that came after a cancel waited for ever if a place had been reserved before. */
class CancelledWhileReservedTest {
    private fun test(spend: (Reservation<Int>) -> Unit) =
        runTest {
            val channel = Channel<Int>(1)
            val place = channel.reserve()
            channel.cancel()
            spend(place)
            val received = async { runCatching { channel.receive() } }
            runCurrent()
            assertEquals(0, channel.waiting)
            assertTrue(received.await().exceptionOrNull() is ClosedChannelException)
            assertTrue(channel.tryReceive().isClosed)
        }

    @Test
    fun receive_afterCancelWhileAPlaceIsReserved_failsAtOnce() = test {}

    @Test
    fun receive_afterCancelAndASendToTheReservedPlace_failsAtOnce() = test { runCatching { it.send(1) } }

    @Test
    fun receive_afterCancelAndTheReservedPlaceGivenBack_failsAtOnce() = test { it.close() }
}
