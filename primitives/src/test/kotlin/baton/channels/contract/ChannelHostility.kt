package baton.channels.contract

import baton.channels.receiveOrNull
import baton.hostile.HostileCase
import baton.hostile.HostileCrowd
import java.util.concurrent.ConcurrentLinkedQueue
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.params.ParameterizedTest
import org.junit.jupiter.params.provider.ArgumentsSource

/**
 * Some of the senders or receivers have a dispatcher with a fault. No element is lost or received twice, and the
 * callers on a dispatcher that works go on. Two promises cannot hold: an element that was handed to a receiver whose
 * resumption was dropped is lost with it, and so is the place that was promised to a sending select.
 */
interface ChannelHostility : ChannelFixture {
    @ParameterizedTest
    @ArgumentsSource(HostileCase.Once::class)
    fun receive_hostileDispatcher_noElementIsLostOrDoubled(case: HostileCase) = receiveAll(case)

    @ParameterizedTest
    @ArgumentsSource(HostileCase.Once::class)
    fun send_hostileDispatcher_isReceivedUnlessItThrew(case: HostileCase) = sendAll(case)

    fun receiveAll(case: HostileCase) {
        for (capacity in 0..2) {
            val channel = channel(capacity)
            val crowd = HostileCrowd(case)
            val got = ConcurrentLinkedQueue<String>()
            crowd.pairs(3) { repeat(2) { got += channel.receive() } }
            val sent = List(12) { "e$it" }
            crowd.unleash(done = { crowd.members.all { it.hasEnded || crowd.mayBeLost(it) || it.name == "sender" } }) {
                crowd.sane("sender") { for (element in sent) channel.send(element) }
            }
            // Receives the elements that the refused receivers have left.
            crowd.unleash {
                crowd.sane("rest") { repeat(sent.size - got.size - crowd.hostile.dropped) { got += channel.receive() } }
            }
            crowd.assertEnds()
            assertEquals(got.size, got.toSet().size, "received twice: $got")
            assertEquals(crowd.hostile.dropped, (sent - got).size, "lost: ${sent - got}")
            assertState(channel, size = 0)
        }
    }

    fun sendAll(case: HostileCase) {
        // More places than the hostile dispatcher can lose.
        val first = listOf("a", "b", "c", "d")
        val channel = channel(first.size).fill(*first.toTypedArray())
        val crowd = HostileCrowd(case)
        val taken = ConcurrentLinkedQueue(first)
        val refused = ConcurrentLinkedQueue<String>()
        crowd.pairs(3) {
            for (element in listOf("$name a", "$name b")) {
                try {
                    channel.send(element)
                    taken += element
                } catch (e: Throwable) {
                    refused += element
                    throw e
                }
            }
        }
        val got = ConcurrentLinkedQueue<String>()
        val receiver = crowd.sane("receiver") { while (true) got += channel.receiveOrNull() ?: break }
        val senders = crowd.members - receiver
        crowd.unleash(done = { senders.all { it.hasEnded || crowd.mayBeLost(it) } && channel.size == 0 }) {}
        // Where a place was lost the channel will not be drained.
        if (crowd.hostile.dropped == 0) channel.close() else channel.cancel()
        crowd.unleash {}
        crowd.assertEnds(isTaken = true)
        assertEquals(got.size, got.toSet().size, "received twice: $got")
        assertEquals(emptyList<String>(), taken - got, "lost")
        val crossed = refused.filter { it in got }
        if (!meetInOneStep) assertEquals(emptyList<String>(), crossed, "refused and received")
        assertTrue(got.size - taken.size - crossed.size <= crowd.hostile.dropped, "$got, of which $taken")
        assertState(channel, size = 0)
    }
}

/** Each resumption comes twice, the second late; it is ignored. */
interface ChannelRunTwice : ChannelHostility {
    @ParameterizedTest
    @ArgumentsSource(HostileCase.Twice::class)
    fun receive_taskIsRunTwice_secondRunIsIgnored(case: HostileCase) = receiveAll(case)

    @ParameterizedTest
    @ArgumentsSource(HostileCase.Twice::class)
    fun send_taskIsRunTwice_secondRunIsIgnored(case: HostileCase) = sendAll(case)
}
