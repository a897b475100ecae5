package baton.channels

import baton.Priority
import baton.channels.ChannelModel.Companion.BUSY
import baton.channels.ChannelModel.Companion.CLOSED
import baton.channels.ChannelModel.Companion.SENT
import baton.waiting.Caller
import baton.waiting.Callers
import io.kotest.core.spec.style.FunSpec
import io.kotest.matchers.shouldBe
import kotlin.random.Random
import kotlin.time.Duration.Companion.milliseconds
import kotlin.time.Duration.Companion.minutes
import kotlinx.coroutines.test.TestScope
import kotlinx.coroutines.test.advanceTimeBy
import kotlinx.coroutines.test.currentTime
import kotlinx.coroutines.test.runCurrent
import kotlinx.coroutines.test.runTest

/** Random sequences of operations: the channel behaves as the naive [ChannelModel] does. */
class ChannelModelSpec :
    FunSpec({
        for (order in ChannelOrder.entries) {
            for (onFull in OnFull.entries) {
                test("$order, $onFull: 500 random sequences agree with the model step by step") {
                    runTest(timeout = 5.minutes) {
                        repeat(500) { seed -> Sequence(this, seed, order, onFull).run(steps = 5..60) }
                    }
                }
            }
        }
        test("long queues of all levels: no waiter is passed over for ever") {
            runTest(timeout = 5.minutes) {
                for (room in listOf(0, 700)) {
                    Sequence(this, room, ChannelOrder.PRIORITY, OnFull.SUSPEND).runFlooded(room)
                }
            }
        }
    }) {
    /** One sequence: the real channel and the model side by side. Asserts after every step. */
    private class Sequence(private val scope: TestScope, seed: Int, order: ChannelOrder, onFull: OnFull) {
        private val random = Random(seed)
        private val capacity = random.nextInt(0, 4)
        private val dropped = mutableListOf<Int>()
        private val real = Channel(capacity, order, onFull, "seed $seed", dropped::add)
        private val model = ChannelModel(capacity, order, onFull)
        private val crowd = Callers(scope)
        private val callers = mutableListOf<Caller>()
        private val told = mutableMapOf<Int, Any>()
        private val expected = mutableMapOf<Int, Any>()
        private val places = mutableListOf<Pair<Reservation<Int>, Priority>>()
        private val deadlines = mutableMapOf<Int, Long>()
        private val steps = mutableListOf("capacity = $capacity")
        private var elements = 0

        fun run(steps: IntRange) {
            repeat(random.nextInt(steps.first, steps.last)) {
                step()
                compare()
            }
            end()
        }

        /** So many elements wait, or are buffered, that every level is overdue now and then. */
        fun runFlooded(room: Int) {
            resize(0)
            repeat(1_000) { send(Priority.CRITICAL, timeout = null) }
            for (level in Priority.entries) repeat(5) { send(level, timeout = null) }
            resize(room)
            compare()
            repeat(1_000) {
                tryReceive()
                compare()
            }
            end()
        }

        private fun level() = Priority.entries[random.nextInt(5)]

        private fun step() {
            when (random.nextInt(24)) {
                in 0..3 -> send(level(), timeout = null)
                4 -> send(level(), random.nextLong(1, 20))
                5, 6 -> trySend()
                in 7..10 -> receive(timeout = null)
                11 -> receive(random.nextLong(1, 20))
                12, 13 -> tryReceive()
                14, 15 -> if (callers.isNotEmpty()) cancel(random.nextInt(callers.size))
                16, 17 -> sendAndCancelTheReceiver()
                18 -> passTime(random.nextLong(0, 12))
                19 -> resize(random.nextInt(0, 5))
                20 -> reserve()
                21, 22 -> usePlace()
                else -> if (random.nextInt(8) == 0) if (random.nextBoolean()) close() else cancelChannel()
            }
        }

        private fun call(answer: Any, level: Priority, timeout: Long?, request: suspend () -> Any) {
            val id = callers.size
            if (answer == BUSY) {
                if (timeout != null) deadlines[id] = scope.currentTime + timeout
            } else {
                expected[id] = answer
            }
            callers +=
                crowd.call("$id", level) {
                    try {
                        told[id] = request()
                    } catch (_: ChannelClosedException) {
                        told[id] = CLOSED
                    }
                }
        }

        private fun ChannelResult<*>.answer(): Any =
            if (isClosed) CLOSED else if (isFailure) BUSY else getOrThrow()!!

        private fun sent(result: ChannelResult<Unit>): Any = if (result.isSuccess) SENT else result.answer()

        private fun send(level: Priority, timeout: Long?) {
            val element = elements++
            steps += "${callers.size}: send $element $level $timeout"
            call(model.send(callers.size, element, level), level, timeout) {
                if (timeout != null) return@call sent(real.trySend(element, timeout.milliseconds))
                real.send(element)
                SENT
            }
        }

        private fun trySend() {
            val element = elements++
            val level = level()
            steps += "trySend $element $level"
            check("trySend", sent(real.trySend(element, level)), model.trySend(element, level))
            scope.runCurrent()
        }

        private fun receive(timeout: Long?) {
            steps += "${callers.size}: receive $timeout"
            call(model.receive(callers.size), Priority.NORMAL, timeout) {
                if (timeout == null) real.receive() else real.tryReceive(timeout.milliseconds).answer()
            }
        }

        private fun tryReceive() {
            steps += "tryReceive"
            check("tryReceive", real.tryReceive().answer(), model.tryReceive())
            scope.runCurrent()
        }

        private fun reserve() {
            if (real.capacity == 0) return
            val level = level()
            steps += "${callers.size}: reserve $level"
            call(model.reserve(callers.size, level), level, timeout = null) {
                places += real.reserve() to level
                SENT
            }
        }

        private fun usePlace() {
            val (place, level) = places.removeFirstOrNull() ?: return
            if (random.nextInt(3) == 0) {
                steps += "leave a place"
                place.close()
                model.leavePlace()
            } else {
                val element = elements++
                steps += "send $element into a place of $level"
                val used = runCatching { place.send(element) }.isSuccess
                check("place", used, model.usePlace(element, level))
            }
            scope.runCurrent()
        }

        private fun cancel(id: Int) {
            steps += "cancel $id"
            model.withdraw(id)
            callers[id].cancel()
            scope.runCurrent()
        }

        /** The first receiver gets an element and is cancelled before it runs: the element goes to others, or back. */
        private fun sendAndCancelTheReceiver() {
            val element = elements++
            steps += "trySend $element, cancel its receiver"
            val before = model.answers.keys.toSet()
            check("trySend", sent(real.trySend(element)), model.trySend(element, Priority.NORMAL))
            val unlucky = (model.answers.keys - before).firstOrNull { model.answers[it] == element }
            if (unlucky != null) {
                model.answers -= unlucky
                callers[unlucky].cancel()
                model.giveBack(element)
            }
            scope.runCurrent()
        }

        private fun passTime(millis: Long) {
            steps += "pass $millis ms"
            val end = scope.currentTime + millis
            for ((id, _) in deadlines.filterValues { it <= end }) {
                if (id !in expected) expected[id] = BUSY
                deadlines -= id
                model.withdraw(id)
            }
            scope.advanceTimeBy(millis)
            scope.runCurrent()
        }

        private fun resize(to: Int) {
            steps += "resize $to"
            check("resize", runCatching { real.resize(to) }.isSuccess, model.resize(to))
            scope.runCurrent()
        }

        private fun close() {
            steps += "close"
            check("close", real.close(), model.close())
            scope.runCurrent()
        }

        private fun cancelChannel() {
            steps += "cancel the channel"
            real.cancel()
            model.cancel()
            scope.runCurrent()
        }

        private fun compare() {
            expected += model.answers
            deadlines -= model.answers.keys
            model.answers.clear()
            check("state", "${real.size} inside, ${real.waiting} wait", "${model.size} inside, ${model.waiting} wait")
            val cancelled = callers.indices.filter { callers[it].isCancelled }
            check("answers", told - cancelled, expected - cancelled)
            check("dropped", dropped, model.dropped)
        }

        /** Returns the places, drains all buffered and waiting elements, and closes the channel. */
        private fun end() {
            while (places.isNotEmpty()) usePlace().also { compare() }
            while (model.size > 0) tryReceive().also { compare() }
            if (!model.isClosed) close()
            cancelChannel()
            compare()
            check("end", "${real.waiting} ${real.size}", "0 0")
        }

        private fun check(what: String, actual: Any?, expected: Any?) {
            if (actual != expected) "$real, $what: $actual\n${steps.joinToString("\n")}" shouldBe "$what: $expected"
        }
    }
}
