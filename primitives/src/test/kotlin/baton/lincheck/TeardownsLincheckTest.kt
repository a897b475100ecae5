package baton.lincheck

import baton.lincheck.world.LincheckCase
import baton.lincheck.world.THREADS
import baton.tasks.core.Teardowns
import kotlinx.coroutines.CancellationException
import org.jetbrains.lincheck.datastructures.Operation
import org.jetbrains.lincheck.datastructures.Param
import org.jetbrains.lincheck.datastructures.ThreadIdGen

/** Register, take back, run, and the end, from everywhere; but only one runs them. */
@Param(name = "thread", gen = ThreadIdGen::class)
class TeardownsLincheckTest : LincheckCase {
    override val model: Class<*>
        get() = TeardownsSequential::class.java

    override val generated
        get() = 150

    private class Teardown(val thread: Int) : suspend (Throwable) -> Unit {
        override suspend fun invoke(cause: Throwable) = Unit
    }

    private val why = CancellationException("why")
    private val teardowns = Teardowns()
    private val newest = Array<Teardowns.Entry?>(THREADS) { null }

    /** Whether it is for the caller to run it. */
    @Operation
    fun add(@Param(name = "thread") thread: Int): Boolean {
        val entry = teardowns.Entry(Teardown(thread))
        newest[thread] = entry
        return teardowns.add(entry) != null
    }

    @Operation
    fun dispose(@Param(name = "thread") thread: Int) {
        newest[thread]?.dispose()
    }

    @Operation(nonParallelGroup = "the runner") fun next() = (teardowns.next(why)?.teardown as Teardown?)?.thread

    @Operation(nonParallelGroup = "the runner", runOnce = true) fun drop() = teardowns.drop()
}

internal class TeardownsSequential {
    private val stack = ArrayList<IntArray>()
    private val newest = Array<IntArray?>(THREADS) { null }
    private var isOver = false
    private var isDropped = false

    fun add(thread: Int): Boolean {
        val entry = intArrayOf(thread)
        newest[thread] = entry
        if (isDropped) return false
        if (!isOver) stack += entry
        return isOver
    }

    fun dispose(thread: Int) {
        stack.removeIf { it === newest[thread] }
    }

    fun next(): Int? {
        val next = stack.removeLastOrNull()?.single()
        if (next == null) isOver = true
        return next
    }

    fun drop() {
        isDropped = true
        stack.clear()
    }
}
