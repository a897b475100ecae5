package baton.benchmarks

import java.lang.management.ManagementFactory
import org.openjdk.jmh.annotations.Level
import org.openjdk.jmh.annotations.Scope
import org.openjdk.jmh.annotations.Setup
import org.openjdk.jmh.annotations.State
import org.openjdk.jmh.annotations.TearDown

/**
 * Each thread of a benchmark with several must have had a processor of its own, or they did not meet. Looked at after
 * each iteration, so that one that did not has no result.
 */
@State(Scope.Thread)
open class Processor {
    private val threads = ManagementFactory.getThreadMXBean()
    private var cpu = 0L
    private var wall = 0L

    @Setup(Level.Iteration)
    fun begin() {
        cpu = threads.currentThreadCpuTime
        wall = System.nanoTime()
    }

    @TearDown(Level.Iteration)
    fun check() {
        val percent = 100 * (threads.currentThreadCpuTime - cpu) / (System.nanoTime() - wall)
        check(percent >= RUNNING_AT_LEAST) { "void: this thread had $percent % of a processor" }
    }

    private companion object {
        const val RUNNING_AT_LEAST = 75
    }
}
