package baton.lincheck

import baton.lincheck.world.LincheckCase
import baton.lincheck.world.THREADS
import baton.parallel.core.MapCore
import baton.parallel.core.Results
import java.util.concurrent.atomic.AtomicInteger
import org.jetbrains.lincheck.datastructures.Operation
import org.jetbrains.lincheck.datastructures.Param
import org.jetbrains.lincheck.datastructures.ThreadIdGen

/**
 * Elements start and end, each in one thread, while other threads end the source or stop the map. Any thread starts
 * elements: the rule of one puller protects the source and the results, which are not part of this test.
 */
@Param(name = "thread", gen = ThreadIdGen::class)
abstract class MapCoreLincheckBase(settling: Boolean, override val model: Class<*>) : LincheckCase {
    private class Count : Results() {
        val stored = AtomicInteger()

        override fun reserve() = 0

        override fun put(index: Int, weight: Int, value: Any?) {
            stored.incrementAndGet()
        }
    }

    private val results = Count()
    internal val core = MapCore(results, settling, maxFailures = 2)
    private val running = IntArray(THREADS)
    protected val failure = IllegalStateException()

    override val generated
        get() = 120

    /** Whether the element may be started. */
    @Operation
    fun start(@Param(name = "thread") thread: Int): Boolean {
        if (!core.start()) return false
        running[thread]++
        return true
    }

    protected fun <T> end(thread: Int, how: () -> T): T? {
        if (running[thread] == 0) return null
        running[thread]--
        return how()
    }

    @Operation fun succeed(@Param(name = "thread") thread: Int) = end(thread) { core.succeed(0, 1, null) } != null

    /** Whether this has stopped it. */
    @Operation fun cancel(@Param(name = "thread") thread: Int) = end(thread) { core.cancel(0, 1, failure) }

    @Operation fun drop(@Param(name = "thread") thread: Int) = end(thread) { core.drop() } != null

    @Operation fun exhaust() = core.exhaust()

    @Operation fun abandon() = core.abandon(failure)

    @Operation fun inFlight() = core.inFlight

    @Operation fun isOpen() = core.isOpen

    /** The number of results that a caller sees when it finds the map over. */
    @Operation fun end() = if (core.isOver) results.stored.get() else null
}

class MapCoreLincheckTest : MapCoreLincheckBase(settling = false, FailingMapSequential::class.java) {
    /** Whether this has stopped it. */
    @Operation fun fail(@Param(name = "thread") thread: Int) = end(thread) { core.fail(0, 1, failure) }
}

/** A failure has two steps. Between them other threads see a stopped map with the element in flight. */
class SettlingMapCoreLincheckTest : MapCoreLincheckBase(settling = true, SettlingMapSequential::class.java) {
    private val failed = IntArray(THREADS)

    /** Whether this has stopped it. */
    @Operation
    fun countFailure(@Param(name = "thread") thread: Int) =
        end(thread) {
            failed[thread]++
            core.countFailure()
        }

    @Operation
    fun endFailed(@Param(name = "thread") thread: Int) {
        if (failed[thread] == 0) return
        failed[thread]--
        core.endFailed(0, 1, failure)
    }
}

internal class FailingMapSequential : MapSequential(settling = false)

internal class SettlingMapSequential : MapSequential(settling = true)

internal open class MapSequential(private val settling: Boolean) {
    private val running = IntArray(THREADS)
    private val failed = IntArray(THREADS)
    private var stored = 0
    private var failures = 0
    private var isExhausted = false
    private var isStopped = false

    fun start(thread: Int): Boolean = isOpen().also { if (it) running[thread]++ }

    private inline fun <T> end(thread: Int, how: () -> T): T? {
        if (running[thread] == 0) return null
        running[thread]--
        return how()
    }

    fun succeed(thread: Int) = end(thread) { stored++ } != null

    fun fail(thread: Int) = end(thread) { abandon() }

    fun countFailure(thread: Int) = end(thread) { (++failures == 2).also { failed[thread]++ } && stop() }

    fun endFailed(thread: Int) {
        if (failed[thread] == 0) return
        failed[thread]--
        store()
    }

    fun cancel(thread: Int) = end(thread) { if (settling) !store() else abandon() }

    fun drop(thread: Int) = end(thread) {} != null

    private fun store() = ++stored > 0

    fun exhaust() {
        isExhausted = true
    }

    fun abandon() = stop()

    private fun stop() = !isStopped.also { isStopped = true }

    fun inFlight() = running.sum() + failed.sum()

    fun isOpen() = !isStopped && !isExhausted

    fun end() = if (!isOpen() && inFlight() == 0) stored else null
}
