package baton.stress

import baton.channels.Channel
import baton.channels.ChannelClosedException
import baton.channels.ChannelOrder
import baton.channels.OnFull
import baton.channels.asFlow
import baton.channels.receiveOrNull
import java.util.concurrent.Executors
import java.util.concurrent.atomic.AtomicInteger
import java.util.concurrent.atomic.AtomicIntegerArray
import kotlin.time.Duration.Companion.microseconds
import kotlin.time.Duration.Companion.milliseconds
import kotlin.time.Duration.Companion.seconds
import kotlin.time.TimeSource
import kotlinx.coroutines.CancellationException
import kotlinx.coroutines.CoroutineScope
import kotlinx.coroutines.Job
import kotlinx.coroutines.asCoroutineDispatcher
import kotlinx.coroutines.joinAll
import kotlinx.coroutines.launch
import kotlinx.coroutines.selects.onTimeout
import kotlinx.coroutines.selects.selectUnbiased
import kotlinx.coroutines.withTimeoutOrNull
import kotlinx.coroutines.yield
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.params.ParameterizedTest
import org.junit.jupiter.params.provider.Arguments
import org.junit.jupiter.params.provider.EnumSource
import org.junit.jupiter.params.provider.MethodSource
import org.junit.jupiter.params.provider.ValueSource

open class ChannelStressTest : Stress() {
    protected open val elements
        get() = 7_000

    protected open val rounds
        get() = 1_000

    /** The outcome of every single element: sent or not, and how often it came out. */
    private class Ledger(private val elements: Int) {
        private val fates = AtomicIntegerArray(elements)
        private val next = AtomicInteger()
        val received = AtomicInteger()

        val hasMore
            get() = next.get() < elements - SPARE

        fun next(): Int = next.getAndIncrement()

        fun sent(element: Int) {
            fates.addAndGet(element, SENT)
        }

        /** The select that offered it was cancelled: another select may have agreed to receive it before that. */
        fun inDoubt(element: Int) {
            fates.addAndGet(element, IN_DOUBT)
        }

        fun received(element: Int) {
            received.incrementAndGet()
            out(element)
        }

        fun out(element: Int) {
            fates.incrementAndGet(element)
        }

        fun check() {
            for (element in 0 until elements) {
                val fate = fates.get(element)
                val isSent = fate / SENT % 2 == 1
                val outs = fate % SENT
                val isInDoubt = fate / IN_DOUBT % 2 == 1
                check(outs == (if (isSent) 1 else 0) || (isInDoubt && outs == 1)) {
                    "$element: ${if (isSent) "sent" else "not sent"}, came out $outs times"
                }
            }
        }

        private companion object {
            const val SENT = 1 shl 16
            const val IN_DOUBT = SENT shl 1

            /** Room for senders that had already begun when enough was sent. */
            const val SPARE = 2_000
        }
    }

    private inner class Pair(capacity: Int, order: ChannelOrder, onFull: OnFull) {
        val ledger = Ledger(elements)
        private val deadline = TimeSource.Monotonic.markNow() + 30.seconds
        private val channels = List(2) { Channel(capacity, order, onFull, onDropped = ledger::out) }

        /** Not after a cancel: the rest of the elements would only be refused, one after the other. */
        val takesMore
            get() = ledger.hasMore && channels.none { it.isClosed }

        private fun any() = channels[random.nextInt(2)]

        suspend fun attemptToSend() {
            val element = ledger.next()
            val channel = any()
            when (random.nextInt(7)) {
                0 -> if (channel.trySend(element).isSuccess) ledger.sent(element)
                1 -> if (channel.trySend(element, random.nextLong(300).microseconds).isSuccess) ledger.sent(element)
                2 ->
                    withTimeoutOrNull(random.nextLong(1, 3).milliseconds) {
                        channel.send(element)
                        ledger.sent(element)
                    }
                3,
                4 -> {
                    val other = ledger.next()
                    offering(element, other) {
                        selectUnbiased {
                            channels[0].onSend(element) { ledger.sent(element) }
                            channels[1].onSend(other) { ledger.sent(other) }
                            if (random.nextBoolean()) onTimeout(random.nextLong(2).milliseconds) {}
                        }
                    }
                }
                5 ->
                    if (channel.capacity > 0) {
                        channel.reserve().use {
                            if (random.nextInt(4) == 0) yield()
                            if (random.nextInt(4) == 0) return
                            it.send(element)
                            ledger.sent(element)
                        }
                    }
                else -> {
                    channel.send(element)
                    ledger.sent(element)
                }
            }
        }

        suspend fun attemptToReceive() {
            when (random.nextInt(7)) {
                0 -> any().tryReceive().getOrNull()?.let(ledger::received)
                1 -> any().tryReceive(random.nextLong(300).microseconds).getOrNull()?.let(ledger::received)
                2 -> withTimeoutOrNull(random.nextLong(1, 3).milliseconds) { ledger.received(any().receive()) }
                3,
                4 ->
                    selectUnbiased {
                        for (channel in channels) channel.onReceive(ledger::received)
                        if (random.nextBoolean()) onTimeout(random.nextLong(2).milliseconds) {}
                    }
                5 -> any().receiveOrNull()?.let(ledger::received)
                6 -> any().receiveUpTo(random.nextInt(1, 4)).forEach(ledger::received)
                else -> ledger.received(any().receive())
            }
            if (random.nextInt(4) == 0) yield()
        }

        /** Receives on the one side or sends on the other, whichever comes first. */
        suspend fun attemptBoth() {
            val element = ledger.next()
            val channel = any()
            offering(element) {
                selectUnbiased {
                    any().onReceive(ledger::received)
                    channel.onSend(element) { ledger.sent(element) }
                    onTimeout(random.nextLong(3).milliseconds) {}
                }
            }
        }

        private inline fun offering(vararg elements: Int, select: () -> Unit) {
            try {
                select()
            } catch (e: CancellationException) {
                elements.forEach(ledger::inDoubt)
                throw e
            }
        }

        /**
         * Whether nothing has been received yet, although a sender is active or an element is left: the senders of an
         * unlimited channel never wait, and may end before a receiver begins. False after 30 s, for the test to fail.
         */
        fun awaitsReceive(senders: List<Job>): Boolean =
            ledger.received.get() == 0 &&
                deadline.hasNotPassedNow() &&
                (senders.any { it.isActive } || channels.any { it.size > 0 })

        fun close() = channels.forEach { it.close() }

        /** And the elements left in the buffer come out by way of `onDropped`. */
        fun cancel() = channels.forEach { it.cancel() }

        fun checkAtRest() {
            for (channel in channels) {
                assertEquals(0, channel.waiting)
                assertEquals(0, channel.size)
            }
            ledger.check()
        }

        override fun toString() = "$channels"
    }

    /** None waits for ever. */
    private fun CoroutineScope.callers(size: Int, goesOn: () -> Boolean, attempt: suspend () -> Unit): List<Job> =
        crowd(size, goesOn, patience = 5.milliseconds) {
            try {
                attempt()
            } catch (_: ChannelClosedException) {
                // It is about to end.
            }
        }

    private fun exactlyOnce(
        capacity: Int,
        order: ChannelOrder,
        onFull: OnFull,
        end: suspend (Pair, List<Job>) -> Unit,
    ) {
        val pair = Pair(capacity, order, onFull)
        stress(pair) {
            val senders = callers(20, { pair.takesMore }, pair::attemptToSend)
            val both = callers(4, { pair.takesMore }, pair::attemptBoth)
            val receivers =
                callers(20, { senders.any { it.isActive } || pair.awaitsReceive(senders) }, pair::attemptToReceive)
            end(pair, senders + both)
            joinAll(*(senders + both + receivers).toTypedArray())
        }
        pair.cancel()
        pair.checkAtRest()
        val ended = !pair.ledger.hasMore
        assertTrue(!ended || onFull != OnFull.SUSPEND || pair.ledger.received.get() > 0, "none received")
    }

    @ParameterizedTest
    @MethodSource("plans")
    fun elements_underCancellationTimeoutsAndSelects_comeOutExactlyOnce(capacity: Int, onFull: OnFull) =
        exactlyOnce(capacity, ChannelOrder.FIFO, onFull) { pair, senders ->
            senders.joinAll()
            pair.close()
        }

    @ParameterizedTest
    @ValueSource(ints = [0, 1, 64])
    fun prioritizedElements_underCancellationTimeoutsAndSelects_comeOutExactlyOnce(capacity: Int) =
        exactlyOnce(capacity, ChannelOrder.PRIORITY, OnFull.SUSPEND) { pair, senders ->
            senders.joinAll()
            pair.close()
        }

    @ParameterizedTest
    @MethodSource("plans")
    fun cancel_inTheMiddle_whatWasInsideIsDroppedExactlyOnce(capacity: Int, onFull: OnFull) =
        exactlyOnce(capacity, ChannelOrder.FIFO, onFull) { pair, senders ->
            // The test fails if nothing is received.
            while (pair.awaitsReceive(senders)) yield()
            repeat(random.nextInt(50, 200)) { yield() }
            pair.cancel()
        }

    /** The receiver is cancelled again and again, but there is only one at a time: so nothing may come out of order. */
    @ParameterizedTest
    @ValueSource(ints = [0, 1, 64, Channel.UNLIMITED])
    fun receiversOneAfterTheOther_cancelledAtAnyTime_seeEveryElementInOrder(capacity: Int) {
        val channel = Channel<Int>(capacity)
        var received = 0
        stress(channel, received) {
            launch {
                repeat(elements) { channel.send(it) }
                channel.close()
            }
            while (received < elements) {
                val receiver = launch {
                    for (i in 1..random.nextInt(1, 200)) {
                        val element = channel.receiveOrNull() ?: break
                        check(element == received++) { "$element received, ${received - 1} expected" }
                        watchdog.progress()
                    }
                }
                repeat(random.nextInt(30)) { yield() }
                receiver.cancel()
                receiver.join()
            }
        }
        assertEquals(0, channel.size)
        assertTrue(channel.tryReceive().isClosed)
    }

    /** An element that has left the channel has come to a collector's code. */
    @ParameterizedTest
    @ValueSource(ints = [0, 1, 64])
    fun collectors_cancelledAtAnyTime_collectEveryElement(capacity: Int) {
        val channel = Channel<Int>(capacity)
        val count = rounds * 10
        val collected = AtomicIntegerArray(count)
        stress(channel) {
            launch {
                repeat(count) { channel.send(it) }
                channel.close()
            }
            while (!(channel.isClosed && channel.size == 0)) {
                val collectors =
                    List(2) {
                        launch {
                            channel.asFlow().collect {
                                collected.incrementAndGet(it)
                                watchdog.progress()
                            }
                        }
                    }
                repeat(random.nextInt(10)) { yield() }
                collectors.forEach { it.cancel() }
                collectors.joinAll()
            }
        }
        assertEquals(emptyList<Int>(), (0..<count).filter { collected.get(it) != 1 })
    }

    @ParameterizedTest
    @ValueSource(ints = [0, 1])
    fun cancel_racingWithTheOtherSide_sendThrewIfAndOnlyIfNothingCameOut(capacity: Int) {
        val channel = Channel<Int>(capacity)
        stress(channel) {
            repeat(rounds * 2) { round ->
                if (capacity == 1) channel.send(-1)
                var sent = false
                val sender = launch {
                    channel.send(round)
                    sent = true
                }
                while (channel.waiting == 0) yield()
                val cancel = launch { sender.cancel() }
                val received = List(2) { channel.tryReceive().getOrNull() }
                joinAll(sender, cancel)
                check((round in received) == sent) { "sent: $sent, received $received" }
                check(channel.size == 0 && channel.waiting == 0)
                watchdog.progress()
            }
        }
    }

    @ParameterizedTest
    @EnumSource
    fun receiverOfADeadDispatcher_passesTheElementOn(order: ChannelOrder) {
        repeat(rounds / 20) {
            val executor = Executors.newSingleThreadExecutor()
            val channel = Channel<Int>(order = order)
            stress(channel) {
                val doomed = launch(executor.asCoroutineDispatcher()) { channel.receive() }
                while (channel.waiting == 0) yield()
                val next = launch { check(channel.receive() == it) }
                while (channel.waiting < 2) yield()
                executor.shutdown()
                check(channel.trySend(it).isSuccess)
                next.join()
                doomed.join()
                check(doomed.isCancelled)
                watchdog.progress()
            }
        }
    }

    private companion object {
        @JvmStatic
        fun plans(): List<Arguments> =
            listOf(0, 1, 64, Channel.UNLIMITED).flatMap { capacity ->
                OnFull.entries.map { Arguments.of(capacity, it) }
            }
    }
}

class ChannelStressDeepTest : ChannelStressTest() {
    override val elements
        get() = 1_000_000

    override val rounds
        get() = 40_000
}
