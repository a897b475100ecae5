package baton.channels.contract

import baton.Priority
import baton.channels.ChannelClosedException
import baton.channels.ChannelOrder
import baton.channels.OnFull
import baton.channels.contract.ChannelModel.Companion.BUSY
import baton.channels.contract.ChannelModel.Companion.CANCELLED
import baton.channels.contract.ChannelModel.Companion.CLOSED
import baton.channels.contract.ChannelModel.Companion.PLACE
import baton.channels.contract.ChannelModel.Companion.SENT
import baton.waiting.Caller
import baton.waiting.Callers
import kotlin.coroutines.EmptyCoroutineContext
import kotlin.random.Random
import kotlin.time.Duration.Companion.milliseconds
import kotlin.time.Duration.Companion.minutes
import kotlinx.coroutines.CancellationException
import kotlinx.coroutines.test.TestScope
import kotlinx.coroutines.test.advanceTimeBy
import kotlinx.coroutines.test.currentTime
import kotlinx.coroutines.test.runCurrent
import kotlinx.coroutines.test.runTest
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Test
import org.junit.jupiter.params.ParameterizedTest
import org.junit.jupiter.params.provider.EnumSource

/**
 * Random sequences of operations: after each of them the channel is in the state of the naive [ChannelModel], and each
 * caller has the result of the model. That is the contract; the other topics add what no sequence shows.
 */
interface ChannelAgainstModel : ChannelFixture {
    @ParameterizedTest
    @EnumSource
    fun operations_inRandomSequences_agreeWithTheModelStepByStep(onFull: OnFull) =
        runTest(timeout = 5.minutes) {
            for (order in ChannelOrder.entries) {
                repeat(sequences) { seed ->
                    Sequence(this, this@ChannelAgainstModel, seed, order, onFull).run(steps = 5..60)
                }
            }
        }

    @Test
    fun urgentElementsAndSenders_flood_noLevelIsPassedOverForEver() =
        runTest(timeout = 5.minutes) {
            for (room in listOf(1, 700)) {
                Sequence(this, this@ChannelAgainstModel, room, ChannelOrder.PRIORITY, OnFull.SUSPEND).runFlooded(room)
            }
        }

    /** One sequence: the real channel and the model side by side. Asserts after every step. */
    private class Sequence(
        private val scope: TestScope,
        private val fixture: ChannelFixture,
        seed: Int,
        private val order: ChannelOrder,
        onFull: OnFull,
    ) {
        private val random = Random(seed)
        private val capacity = random.nextInt(0, 4)
        private val dropped = mutableListOf<Int>()
        private val real = fixture.channel(capacity, order, onFull, "seed $seed") { dropped += it.toInt() }
        private val model = ChannelModel(capacity, order, onFull, fixture.elementsReturn)
        private val crowd = Callers(scope)
        private val callers = mutableListOf<Caller>()
        private val cancelled = mutableSetOf<Int>()
        private val told = mutableMapOf<Int, Any>()
        private val expected = mutableMapOf<Int, Any>()
        private val places = mutableListOf<Pair<PlaceFace, Priority>>()
        private val deadlines = mutableMapOf<Int, Long>()
        private val steps = mutableListOf("capacity = $capacity")
        private val isLazy = fixture.isPlain && seed % 2 == 1
        private var elements = 0

        fun run(steps: IntRange) {
            repeat(random.nextInt(steps.first, steps.last)) {
                step()
                if (isLazy && random.nextInt(3) > 0) compareState() else settle()
            }
            end()
        }

        /** So many elements wait, or are buffered, that every level is overdue now and then. */
        fun runFlooded(room: Int) {
            resize(0)
            repeat(1_000) { send(Priority.CRITICAL, timeout = null) }
            for (level in Priority.entries) repeat(5) { send(level, timeout = null) }
            resize(room)
            settle()
            repeat(1_000) {
                tryReceive()
                settle()
            }
            end()
        }

        private fun level() = Priority.entries[random.nextInt(5)]

        private fun step() {
            when (random.nextInt(29)) {
                in 0..3 -> send(level(), timeout = null)
                4 -> send(level(), random.nextLong(1, 20))
                5,
                6 -> trySend()
                in 7..10 -> receive(timeout = null)
                11 -> receive(random.nextLong(1, 20))
                12,
                13 -> tryReceive()
                14,
                15 -> if (callers.isNotEmpty()) cancel(random.nextInt(callers.size))
                16,
                17 -> if (callers.isNotEmpty()) cancel(maxOf(0, callers.size - random.nextInt(1, 4)))
                18 -> sendAndCancelTheReceiver()
                19 -> passTime(random.nextLong(0, 12))
                20 -> resize(random.nextInt(0, 5))
                21,
                22 -> reserve()
                23,
                24 -> usePlace()
                in 25..27 -> receiveUpTo(listOf(1, 2, 3, Int.MAX_VALUE).random(random))
                else -> if (random.nextInt(8) == 0) if (random.nextBoolean()) close() else cancelChannel()
            }
        }

        /** A call whose result the model knows does not wait: it has the result when no other coroutine has run. */
        private fun call(
            answer: Any,
            level: Priority?,
            timeout: Long?,
            atOnce: Boolean = true,
            request: suspend () -> Any,
        ) {
            val id = callers.size
            if (answer == BUSY && timeout != null) deadlines[id] = scope.currentTime + timeout
            if (answer != BUSY) expected[id] = answer
            callers +=
                crowd.callAtOnce("$id", level ?: EmptyCoroutineContext) {
                    told[id] =
                        try {
                            request()
                        } catch (_: ChannelClosedException) {
                            CLOSED
                        } catch (_: CancellationException) {
                            CANCELLED
                        }
                }
            if (answer != BUSY && atOnce) check("answer at once", told[id], answer)
        }

        private fun attempt(request: () -> Any): Any =
            try {
                request()
            } catch (_: ChannelClosedException) {
                CLOSED
            }

        private fun sent(isSent: Boolean): Any = if (isSent) SENT else BUSY

        private fun received(element: String?): Any = element?.toInt() ?: BUSY

        private fun send(level: Priority, timeout: Long?) {
            if (timeout != null && !fixture.hasVirtualTime) return
            val element = elements++
            val given = if (random.nextBoolean()) level else null
            // A level that is given goes before the coroutine's. In a queue without levels there need not be one.
            val own = if (given != null) level() else level.takeIf { order == ChannelOrder.PRIORITY }
            steps += "${callers.size}: send $element $own $given $timeout"
            call(model.send(callers.size, element, level), own, timeout) {
                if (timeout != null) return@call sent(real.trySend("$element", timeout.milliseconds, given))
                real.send("$element", given)
                SENT
            }
        }

        private fun trySend() {
            val element = elements++
            val level = if (random.nextBoolean()) level() else null
            steps += "trySend $element $level"
            val answer = attempt { sent(real.trySend("$element", level)) }
            check("trySend", answer, model.trySend(element, level ?: Priority.NORMAL))
        }

        private fun receive(timeout: Long?) {
            if (timeout != null && !fixture.hasVirtualTime) return
            val meetsSelect = !fixture.isPlain && model.isAnElementWithASender
            // Where places are reserved, it depends on the kind of sender and receiver whether they meet at once.
            if (meetsSelect && model.reserved > 0) return
            steps += "${callers.size}: receive $timeout"
            // A select that sends gives its element away only when it has resumed.
            call(model.receive(callers.size), level = null, timeout, atOnce = !meetsSelect) {
                if (timeout == null) real.receive().toInt() else received(real.tryReceive(timeout.milliseconds))
            }
        }

        /**
         * Where callers resume on other threads, or are granted early, what is there then is no matter of this test.
         */
        private fun receiveUpTo(limit: Int) {
            if (!fixture.isPlain || !fixture.elementsReturn) return
            steps += "${callers.size}: receive up to $limit"
            call(model.receiveUpTo(callers.size, limit), level = null, timeout = null) {
                real.receiveUpTo(limit).map { it.toInt() }.ifEmpty { CLOSED }
            }
        }

        private fun tryReceive() {
            if (!fixture.isPlain && model.isAnElementWithASender) return
            steps += "tryReceive"
            check("tryReceive", attempt { received(real.tryReceive()) }, model.tryReceive())
        }

        private fun reserve() {
            if (real.capacity == 0) return
            val level = level()
            steps += "${callers.size}: reserve $level"
            call(model.reserve(callers.size, level), level, timeout = null) {
                places += real.reserve() to level
                PLACE
            }
        }

        private fun usePlace() {
            val (place, own) = places.removeFirstOrNull() ?: return
            if (random.nextInt(3) == 0) {
                steps += "leave a place"
                place.close()
                model.leavePlace()
            } else {
                val element = elements++
                val given = if (random.nextBoolean()) level() else null
                steps += "send $element $given into a place of $own"
                val used = runCatching { place.send("$element", given) }.isSuccess
                check("place", used, model.usePlace(element, given ?: own))
            }
        }

        private fun cancel(id: Int) {
            steps += "cancel $id"
            if (id in told || !cancelled.add(id)) return
            if (model.withdraw(id)) expected[id] = CANCELLED
            deadlines -= id
            callers[id].cancel()
        }

        /** The first receiver gets an element and is cancelled before it runs: the element goes to others, or back. */
        private fun sendAndCancelTheReceiver() {
            val receiver = model.nextReceiver
            trySend()
            if (receiver != null && fixture.elementsReturn) cancel(receiver)
        }

        private fun passTime(millis: Long) {
            settle()
            steps += "pass $millis ms"
            val end = scope.currentTime + millis
            for ((id, _) in deadlines.filterValues { it <= end }) {
                expected[id] = BUSY
                deadlines -= id
                model.withdraw(id)
            }
            scope.advanceTimeBy(millis)
            settle()
        }

        /** By one step at a time where several senders could come in with their elements in another order. */
        private fun resize(to: Int) {
            steps += "resize $to"
            for (step in if (fixture.isPlain) to..to else minOf(to, real.capacity + 1)..to) {
                check("resize", runCatching { real.resize(step) }.isSuccess, model.resize(step))
                if (!fixture.isPlain) settle()
            }
        }

        private fun close() {
            steps += "close"
            check("close", real.close(), model.close())
        }

        private fun cancelChannel() {
            steps += "cancel the channel"
            real.cancel()
            model.cancel()
        }

        /** Everything runs that can run, and has the results that the model has. */
        private fun settle() {
            scope.runCurrent()
            while (true) {
                val id = model.nextToResume ?: break
                val answer = model.resume(id, id in cancelled)
                // It had failed before it was cancelled: it may tell either.
                expected[id] = if (id in cancelled && answer == CLOSED) told.getOrDefault(id, CLOSED) else answer
                deadlines -= id
            }
            steps += "run"
            compareState()
            check("answers", told, expected)
        }

        private fun compareState() {
            check("state", "${real.size} inside, ${real.waiting} wait", "${model.size} inside, ${model.waiting} wait")
            if (!model.isCancelled) check("remaining", real.remainingCapacity, model.remainingCapacity)
            check("end", real.isClosedForReceive, model.isClosedForReceive)
            check("dropped", dropped, model.dropped)
        }

        /** Returns the places, drains all buffered and waiting elements, and closes the channel. */
        private fun end() {
            settle()
            while (places.isNotEmpty()) usePlace().also { settle() }
            while (model.size > 0) tryReceive().also { settle() }
            if (!model.isClosed) close()
            cancelChannel()
            settle()
            check("end", "${real.waiting} ${real.size}", "0 0")
        }

        private fun check(what: String, actual: Any?, expected: Any?) {
            if (actual != expected) {
                assertEquals("$what: $expected", "$real, $what: $actual\n${steps.joinToString("\n")}")
            }
        }
    }
}
