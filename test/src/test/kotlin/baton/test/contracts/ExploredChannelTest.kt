package baton.test.contracts

import baton.channels.Channel
import baton.channels.ChannelClosedException
import baton.channels.contract.ChannelFace
import baton.channels.contract.ChannelPlan
import baton.channels.contract.KotlinChannelFace
import baton.channels.contract.MixedChannelFace
import baton.test.explore
import kotlinx.coroutines.CoroutineName
import kotlinx.coroutines.joinAll
import kotlinx.coroutines.launch
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.params.ParameterizedTest
import org.junit.jupiter.params.provider.FieldSource

/** In any order, whichever sender or receiver is cancelled at whichever point. */
internal class ExploredChannelTest {
    internal class Kind(val capacity: Int, val face: (Channel<String>) -> ChannelFace, private val name: String) {
        /** A select that sends to a select which receives may throw although its element was received. */
        val isExact: Boolean
            get() = capacity > 0 || name == "suspending"

        override fun toString() = "$name, capacity $capacity"

        fun assertAllReceived(sent: List<String>, received: List<String>) {
            assertEquals(received.distinct(), received)
            if (isExact) assertEquals(sent.sorted(), received.sorted()) else assertTrue(received.containsAll(sent))
        }
    }

    @ParameterizedTest
    @FieldSource("kinds")
    fun elements_anyOneCancelled_areReceivedOnceOrStillThere(kind: Kind) =
        explore(RUNS, SEED, cancels = true) {
            val channel = kind.face(ChannelPlan(kind.capacity).build())
            val sent = mutableListOf<String>()
            val received = mutableListOf<String>()
            val senders =
                List(2) { sender ->
                    launch(CoroutineName("sender $sender")) {
                        for (n in 1..2) {
                            channel.send("$sender.$n")
                            sent += "$sender.$n"
                        }
                    }
                }
            repeat(2) {
                launch(CoroutineName("receiver $it")) { while (true) received += channel.receiveOrNull() ?: break }
            }
            launch(CoroutineName("batches")) { while (true) received += channel.receiveUpTo(2).ifEmpty { break } }
            senders.joinAll()
            channel.close()
            afterwards {
                assertEquals(0, channel.size)
                kind.assertAllReceived(sent, received)
                assertEquals(0, channel.waiting)
            }
        }

    @ParameterizedTest
    @FieldSource("kinds")
    fun elements_ofOneSender_areReceivedInTheirOrder(kind: Kind) =
        explore(RUNS, SEED) {
            val channel = kind.face(ChannelPlan(kind.capacity).build())
            val received = mutableListOf<String>()
            val senders =
                List(2) { sender ->
                    launch(CoroutineName("sender $sender")) { for (n in 1..3) channel.send("$sender.$n") }
                }
            launch(CoroutineName("receiver")) { while (true) received += channel.receiveOrNull() ?: break }
            senders.joinAll()
            channel.close()
            afterwards {
                for (sender in 0..1) {
                    assertEquals((1..3).map { "$sender.$it" }, received.filter { it.startsWith("$sender") })
                }
            }
        }

    @ParameterizedTest
    @FieldSource("kinds")
    fun cancel_meanwhile_elementsAreReceivedOrDropped(kind: Kind) =
        explore(RUNS, SEED, cancels = true) {
            val taken = mutableListOf<String>()
            val channel = kind.face(ChannelPlan(kind.capacity, onDropped = { taken += it }).build())
            val sent = mutableListOf<String>()
            repeat(2) { sender ->
                launch(CoroutineName("sender $sender")) {
                    try {
                        for (n in 1..2) {
                            channel.send("$sender.$n")
                            sent += "$sender.$n"
                        }
                    } catch (_: ChannelClosedException) {
                        // Its element was not taken.
                    }
                }
            }
            launch(CoroutineName("receiver")) { while (true) taken += channel.receiveOrNull() ?: break }
            val owner = launch(CoroutineName("owner")) { channel.cancel() }
            owner.join()
            channel.cancel()
            afterwards {
                assertTrue(channel.isClosed)
                kind.assertAllReceived(sent, taken)
            }
        }

    private companion object {
        @JvmField
        val kinds =
            (0..2).flatMap { capacity ->
                listOf(Kind(capacity, ::KotlinChannelFace, "suspending"), Kind(capacity, ::MixedChannelFace, "mixed"))
            }
    }
}
