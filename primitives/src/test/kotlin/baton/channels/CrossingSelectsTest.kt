package baton.channels

import baton.waiting.Callers
import kotlin.coroutines.EmptyCoroutineContext
import kotlinx.coroutines.CoroutineScope
import kotlinx.coroutines.CoroutineStart
import kotlinx.coroutines.Dispatchers
import kotlinx.coroutines.Job
import kotlinx.coroutines.cancelAndJoin
import kotlinx.coroutines.joinAll
import kotlinx.coroutines.launch
import kotlinx.coroutines.selects.select
import kotlinx.coroutines.test.runCurrent
import kotlinx.coroutines.test.runTest
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertFalse
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.api.Test

/** Selects that meet other selects while one of them is still registering, or has just been decided. */
class CrossingSelectsTest {
    private val a = Channel<String>()
    private val b = Channel<String>()

    private fun CoroutineScope.startNow(block: suspend CoroutineScope.() -> Unit): Job =
        launch(start = CoroutineStart.UNDISPATCHED, block = block)

    /**
     * kotlinx.coroutines #504, #1411: two selects over the same channels, each the other way round, spun or overflowed.
     */
    @Test
    fun select_twoOverTheSameChannelsInOppositeOrder_goOnWithoutEnd() =
        runTest {
            for (context in listOf(Dispatchers.Unconfined, EmptyCoroutineContext)) {
                val one = Channel<Int>()
                val two = Channel<Int>()
                val meetings = IntArray(2)
                val jobs =
                    List(2) { me ->
                        launch(context, CoroutineStart.UNDISPATCHED) {
                            val (mine, others) = if (me == 0) one to two else two to one
                            repeat(10_000) {
                                select {
                                    mine.onSend(it) { meetings[me]++ }
                                    others.onReceive { meetings[me]++ }
                                }
                            }
                        }
                    }
                joinAll(*jobs.toTypedArray())
                assertEquals(listOf(10_000, 10_000), meetings.toList())
                assertEquals(0, one.waiting + two.waiting)
            }
        }

    /** kotlinx.coroutines does not dispose of the other clauses then. */
    @Test
    fun select_cancelledWhileItsClauseRegistersAgain_leavesNoWaiter() =
        runTest {
            lateinit var selector: Job
            val sender = Callers(this)
            selector =
                launch {
                    select<Unit> {
                        a.onReceive {}
                        b.onReceive {}
                        sender.callAtOnce { a.send("1") }
                        selector.cancel()
                    }
                }
            runCurrent()
            assertTrue(selector.isCancelled)
            assertEquals(0, b.waiting)
            assertEquals("1", a.tryReceive().getOrNull())
            assertEquals(0, a.waiting)
        }

    @Test
    fun send_receivingSelectHasJustLost_waits() =
        runTest {
            val selector = Callers(this).call { select<String> { for (each in listOf(a, b)) each.onReceive { it } } }
            assertTrue(a.trySend("1").isSuccess)
            val sender = Callers(this).callAtOnce { b.send("2") }
            assertTrue(sender.isWaiting)
            runCurrent()
            assertTrue(selector.isServed)
            assertTrue(sender.isWaiting)
            assertEquals("2", b.tryReceive().getOrNull())
            runCurrent()
            assertTrue(sender.isServed)
        }

    @Test
    fun onSend_receivingSelectHasJustLost_waits() =
        runTest {
            Callers(this).call { select<String> { for (each in listOf(a, b)) each.onReceive { it } } }
            assertTrue(a.trySend("1").isSuccess)
            val sender = startNow { select<Unit> { b.onSend("2") {} } }
            runCurrent()
            assertFalse(sender.isCompleted)
            assertEquals(1, b.waiting)
            sender.cancelAndJoin()
            assertEquals(0, b.waiting)
        }

    @Test
    fun onReceive_sendingSelectHasJustLost_waits() =
        runTest {
            val selector =
                Callers(this).call { select<Unit> { for (each in listOf(a, b)) each.onSend("from ${each.size}") {} } }
            val first = startNow { select<Unit> { a.onReceive {} } }
            val second = startNow { select<Unit> { b.onReceive {} } }
            runCurrent()
            assertTrue(selector.isServed)
            assertTrue(first.isCompleted)
            assertFalse(second.isCompleted)
            assertTrue(b.trySend("2").isSuccess)
            runCurrent()
            assertTrue(second.isCompleted)
        }

    @Test
    fun onSend_whileTheReceivingSelectRegisters_isReceivedOnce() =
        runTest {
            val received = mutableListOf<String>()
            var sent = false
            select<Unit> {
                a.onReceive { received += it }
                startNow { select<Unit> { a.onSend("1") { sent = true } } }
            }
            runCurrent()
            assertTrue(sent)
            assertEquals(listOf("1"), received)
            assertEquals(0, a.waiting)
        }
}
