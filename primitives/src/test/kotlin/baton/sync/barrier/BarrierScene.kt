package baton.sync.barrier

import baton.sync.BarrierBrokenException
import baton.sync.BarrierCancellation
import baton.waiting.Caller
import baton.waiting.Callers
import baton.waiting.causes
import kotlinx.coroutines.CompletableDeferred
import kotlinx.coroutines.test.TestScope
import kotlinx.coroutines.test.runCurrent
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertInstanceOf

/** A barrier and its parties. If it [isGated], each run of the action waits until the test [open]s it. */
class BarrierScene(
    val scope: TestScope,
    fixture: BarrierFixture,
    parties: Int,
    onCancel: BarrierCancellation,
    isGated: Boolean,
) {
    val callers = Callers(scope)
    private val byName = mutableMapOf<String, Caller>()
    private val gates = mutableListOf<CompletableDeferred<Unit>>()

    val barrier: BarrierFace =
        fixture.barrier(parties, onCancel, "page", if (isGated) suspend { newGate().await() } else null)

    /** The numbers that the parties got, in the order in which they went on. */
    val numbers = mutableListOf<Int>()

    /** How often the action has begun. */
    val runs: Int
        get() = gates.size

    private fun newGate() = CompletableDeferred<Unit>().also { gates += it }

    operator fun get(name: String): Caller = byName.getValue(name)

    /** The parties come one after the other. */
    fun come(vararg names: String) {
        for (name in names) byName[name] = callers.call(name) { numbers += barrier.arrive() }
    }

    /** The party is the one that does not suspend, unless it waits. */
    fun comeAtOnce(name: String): Caller =
        callers.callAtOnce(name) { numbers += barrier.arrive() }.also { byName[name] = it }

    fun cancel(vararg names: String) = names.forEach { get(it).cancel() }

    fun open(run: Int) {
        gates[run].complete(Unit)
    }

    fun fail(run: Int, e: Throwable) {
        gates[run].completeExceptionally(e)
    }

    /** All that can run runs. Then the parties [served] so far, in that order, and the state. */
    fun assert(served: String, waiting: Int = 0, isBroken: Boolean = false) {
        scope.runCurrent()
        assertEquals(served, callers.served.joinToString(" "))
        assertState(waiting, isBroken)
    }

    fun assertState(waiting: Int, isBroken: Boolean = false) =
        assertEquals("$waiting, $isBroken", "${barrier.waiting}, ${barrier.isBroken}")

    /** The exception of each, as it was thrown first (see [causes]). */
    fun broken(vararg names: String): List<BarrierBrokenException> =
        names.map { name ->
            scope.runCurrent()
            assertInstanceOf(BarrierBrokenException::class.java, get(name).failure) { "${get(name)}" }
            get(name).failure!!.causes().filterIsInstance<BarrierBrokenException>().last()
        }

    /** The barrier works: as many as there must be arrive, and get their numbers. The action must not be gated. */
    fun assertWhole() {
        numbers.clear()
        repeat(barrier.parties) { come("whole $it") }
        assertEquals((0..<barrier.parties).toList(), numbers.sorted())
        assertState(waiting = 0)
    }
}
