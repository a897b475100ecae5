package baton.channels

import baton.runBlockingOfAnyKotlinx
import kotlin.time.Duration.Companion.milliseconds
import kotlinx.coroutines.CoroutineStart
import kotlinx.coroutines.Dispatchers
import kotlinx.coroutines.channels.Channel as KotlinxChannel
import kotlinx.coroutines.launch
import kotlinx.coroutines.selects.onTimeout
import kotlinx.coroutines.selects.select
import kotlinx.coroutines.selects.selectUnbiased
import kotlinx.coroutines.yield
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertThrows
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.api.Test

/** The channel's clauses, which have a parameter or a value, in kotlinx's select; its flow; the bridges. */
class ChannelKotlinxProbe {
    private val one = Channel<String?>()
    private val two = Channel<String?>(1)

    private fun assertAtRest() {
        for (channel in listOf(one, two)) assertEquals(0 to 0, channel.waiting to channel.size)
    }

    @Test
    fun clauses_thatNeedNotWait_winAtOnce() = runBlockingOfAnyKotlinx {
        assertEquals(
            two,
            select<Any> {
                one.onReceive { "r" }
                two.onSend("a") { it }
            },
        )
        assertEquals(
            "a",
            selectUnbiased {
                two.onReceive { it }
                one.onReceive { it }
            },
        )
        two.send(null)
        assertEquals(null, select<String?> { two.onReceive { it } })
        assertAtRest()
    }

    @Test
    fun clauses_thatWait_winWhenGranted() = runBlockingOfAnyKotlinx {
        launch {
            yield()
            one.send("a")
            assertEquals("b", one.receive())
        }
        assertEquals(
            "a",
            selectUnbiased {
                one.onReceive { it }
                two.onReceive { it }
            },
        )
        assertEquals(
            "sent",
            select {
                one.onSend("b") { "sent" }
                two.onReceive { it }
            },
        )
        assertAtRest()
    }

    @Test
    fun clauses_thatLose_leaveNothing() = runBlockingOfAnyKotlinx {
        assertEquals(
            "t",
            select {
                one.onReceive { it }
                onTimeout(5.milliseconds) { "t" }
            },
        )
        assertEquals(
            "t",
            select {
                one.onSend("a") { "s" }
                onTimeout(5.milliseconds) { "t" }
            },
        )
        val job = launch { yield() }
        assertEquals(
            "j",
            select {
                one.onReceive { it }
                two.onReceive { it }
                job.onJoin { "j" }
            },
        )
        assertAtRest()
    }

    @Test
    fun catching_closed_isTold() = runBlockingOfAnyKotlinx {
        launch {
            yield()
            one.close()
        }
        assertTrue(
            select<Boolean> {
                one.onReceiveCatching { it.isClosed }
                two.onReceive { false }
            }
        )
        assertThrows(ChannelClosedException::class.java) {
            runBlockingOfAnyKotlinx {
                select {
                    one.onSend("a") {}
                    two.onReceive {}
                }
            }
        }
        assertAtRest()
    }

    @Test
    fun selectCancelledAfterItWasGrantedAndBeforeItRuns_undoesThat() = runBlockingOfAnyKotlinx {
        val receiver = launch(start = CoroutineStart.UNDISPATCHED) { select { one.onReceive { error("ran") } } }
        assertTrue(one.trySend("a").isSuccess)
        receiver.cancel(null)
        receiver.join()
        assertEquals("a", one.tryReceive().getOrThrow())

        two.send("full")
        val sender = launch(start = CoroutineStart.UNDISPATCHED) { select { two.onSend("b") { error("ran") } } }
        two.tryReceive()
        sender.cancel(null)
        sender.join()
        assertTrue(two.trySend("c").isSuccess)
        assertEquals("c", two.receive())
        assertAtRest()
    }

    /** A grant that comes while the select still registers its other clauses makes kotlinx register ours again. */
    @Test
    fun grantDuringRegistration_isNotLost() {
        repeat(1_000) {
            runBlockingOfAnyKotlinx(Dispatchers.Default) {
                launch { one.send("a") }
                assertEquals(
                    "a",
                    select<String?> {
                        one.onReceive { it }
                        two.onReceive { it }
                    },
                )
                launch { assertEquals("b", one.receive()) }
                assertEquals(
                    "s",
                    select {
                        one.onSend("b") { "s" }
                        two.onReceive { it }
                    },
                )
            }
            assertAtRest()
        }
    }

    @Test
    fun flowAndBridges_work() = runBlockingOfAnyKotlinx {
        val source = KotlinxChannel<String?>(2)
        source.send("a")
        source.send("b")
        source.close(null) // the default argument is found elsewhere before kotlinx 1.11
        val bridge = launch { source.sendTo(two) { throw AssertionError(it) } }
        var got = ""
        val collector = launch { two.asFlow().collect { got += it } }
        bridge.join()
        two.close()
        collector.join()
        assertEquals("ab", got)
        assertAtRest()
    }
}
