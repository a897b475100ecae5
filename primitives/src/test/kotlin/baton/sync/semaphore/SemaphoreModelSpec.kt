package baton.sync.semaphore

import baton.Priority
import baton.sync.SemaphoreClosedException
import baton.sync.WaitOrder
import baton.sync.semaphore.contract.KotlinSemaphoreFace
import baton.sync.semaphore.contract.MixedSemaphoreFace
import baton.sync.semaphore.contract.SelectSemaphoreFace
import baton.sync.semaphore.contract.SemaphoreFace
import baton.sync.semaphore.contract.SemaphoreFactory
import baton.waiting.Caller
import baton.waiting.Callers
import baton.waiting.Enough
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

/** Random sequences of operations: the semaphore behaves as the naive [SemaphoreModel] does. */
class SemaphoreModelSpec :
    FunSpec({
        for ((face, factory) in faces) {
            for (order in listOf(WaitOrder.FIFO, WaitOrder.PRIORITY)) {
                test("$face, $order: $SEQUENCES random sequences agree with the model step by step") {
                    runTest(timeout = 5.minutes) {
                        repeat(SEQUENCES) { seed -> Sequence(this, seed, order, factory).run() }
                    }
                }
            }
        }
    }) {
    private companion object {
        /** Of each face and order. */
        const val SEQUENCES = 600

        val faces: Map<String, SemaphoreFactory> =
            mapOf(
                "suspend" to ::KotlinSemaphoreFace,
                "select" to ::SelectSemaphoreFace,
                "mixed" to ::MixedSemaphoreFace,
            )
    }

    /** One sequence: the real semaphore and the model side by side. Asserts after every step. */
    private class Sequence(private val scope: TestScope, seed: Int, order: WaitOrder, factory: SemaphoreFactory) {
        private val random = Random(seed)
        private val permits = random.nextInt(0, 6)
        private val acquired = random.nextInt(0, permits + 1)
        private val real = factory(permits, acquired, order, "seed $seed")
        private val model = SemaphoreModel(permits, acquired, order)
        private val crowd = Callers(scope)
        private val callers = mutableListOf<Caller>()
        private val weights = mutableListOf<Int>()
        private val deadlines = mutableMapOf<Int, Long>()
        private val granted = mutableListOf<String>()
        private val steps = mutableListOf("permits = $permits, acquired = $acquired")

        fun run() {
            repeat(random.nextInt(5, 50)) {
                step()
                compare()
            }
            drain()
        }

        private fun step() {
            when (random.nextInt(20)) {
                in 0..5 -> acquire(timeout = null)
                6,
                7 -> acquire(timeout = random.nextLong(1, 20))
                8 -> tryAcquire()
                in 9..12 -> release(random.nextInt(1, 4))
                13,
                14 -> random(callers.indices)?.let(::cancel)
                15,
                16 -> releaseAndCancel()
                17 -> passTime(random.nextLong(0, 12))
                18 -> resize(random.nextInt(0, 8))
                else -> if (random.nextInt(20) == 0) close()
            }
        }

        private fun acquire(timeout: Long?) {
            val id = callers.size
            val weight = random.nextInt(1, 5)
            val level = Priority.entries[random.nextInt(5)]
            steps += "$id: acquire $weight $level $timeout"
            val answer = model.acquire(id, weight, level)
            weights += weight
            if (timeout != null && answer == SemaphoreModel.Answer.WAITING) deadlines[id] = scope.currentTime + timeout
            callers +=
                crowd.call("$id", level) {
                    if (timeout == null) real.acquire(weight) else real.tryAcquire(weight, timeout.milliseconds)
                }
            if (answer == SemaphoreModel.Answer.GRANTED) granted += "$id"
            check("acquire", callers[id].answer(), answer)
        }

        private fun tryAcquire() {
            val weight = random.nextInt(1, 5)
            steps += "tryAcquire $weight"
            val answer =
                try {
                    if (real.tryAcquire(weight)) SemaphoreModel.Answer.GRANTED else SemaphoreModel.Answer.BUSY
                } catch (e: RuntimeException) {
                    e.answer()
                }
            check("tryAcquire", answer, model.tryAcquire(weight))
        }

        private fun release(n: Int) {
            steps += "release $n"
            val released =
                try {
                    real.release(n)
                    true
                } catch (_: IllegalStateException) {
                    false
                }
            check("release", released, model.release(n))
            scope.runCurrent()
        }

        private fun cancel(id: Int) {
            steps += "cancel $id"
            model.withdraw(id)
            callers[id].job.cancel(Enough)
            scope.runCurrent()
        }

        /** The first waiter that is granted is cancelled before it runs: its permits go on to others. */
        private fun releaseAndCancel() {
            if (model.held == 0) return
            val before = model.granted.size
            steps += "release 1, cancel the first waiter it grants"
            real.release()
            model.release()
            val unlucky = model.granted.getOrNull(before)
            if (unlucky != null) {
                model.granted -= unlucky
                callers[unlucky].job.cancel(Enough)
                model.release(weights[unlucky])
            }
            scope.runCurrent()
        }

        private fun passTime(millis: Long) {
            steps += "pass $millis ms"
            val end = scope.currentTime + millis
            // Timers of one instant run in the order in which they were set.
            deadlines.entries.filter { it.value <= end }.sortedBy { it.value }.forEach { model.withdraw(it.key) }
            scope.advanceTimeBy(millis)
            scope.runCurrent()
        }

        private fun resize(permits: Int) {
            steps += "resize $permits"
            val resized = runCatching { real.resize(permits) }.isSuccess
            check("resize", resized, model.resize(permits))
            scope.runCurrent()
        }

        private fun close() {
            steps += "close"
            real.close()
            model.close()
            scope.runCurrent()
        }

        private fun compare() {
            model.granted.mapTo(granted) { "$it" }
            model.granted.clear()
            check("state", real.state(), model.state())
            check("grants", crowd.served, granted)
            check("failed", model.failed.filterNot { callers[it].hasFailed() }, emptyList<Int>())
        }

        /** After the last step all permits are released, and every waiter is served. */
        private fun drain() {
            if (model.permits == 0) resize(7)
            repeat(1_000) {
                if (model.held == 0) return@repeat
                release(1)
                compare()
            }
            check("end", real.state(), "${model.permits} of ${model.permits}, 0 wait")
            check("over-release", runCatching { real.release() }.isFailure, true)
        }

        private fun SemaphoreFace.state() = "$available of $permits, $waiting wait"

        private fun SemaphoreModel.state() = "$available of $permits, $waiting wait"

        private fun Caller.answer() =
            when {
                isServed -> SemaphoreModel.Answer.GRANTED
                isWaiting -> SemaphoreModel.Answer.WAITING
                else -> failure?.answer()
            }

        private fun Caller.hasFailed() = answer().let { it == TOO_HEAVY || it == CLOSED }

        private fun Throwable.answer() =
            when (this) {
                is IllegalArgumentException -> TOO_HEAVY
                is SemaphoreClosedException -> CLOSED
                else -> null
            }

        private fun check(what: String, actual: Any?, expected: Any?) {
            if (actual != expected) "$real, $what: $actual\n${steps.joinToString("\n")}" shouldBe "$what: $expected"
        }

        private fun random(indices: IntRange): Int? = if (indices.isEmpty()) null else random.nextInt(indices.last + 1)

        private companion object {
            val TOO_HEAVY = SemaphoreModel.Answer.TOO_HEAVY
            val CLOSED = SemaphoreModel.Answer.CLOSED
        }
    }
}
