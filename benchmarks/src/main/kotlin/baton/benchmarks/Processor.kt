package baton.benchmarks

import java.lang.management.ManagementFactory
import org.openjdk.jmh.annotations.Level
import org.openjdk.jmh.annotations.Scope
import org.openjdk.jmh.annotations.Setup
import org.openjdk.jmh.annotations.State
import org.openjdk.jmh.annotations.TearDown

/**
 * Checks after each iteration that every thread of a benchmark with several had its own processor; otherwise they did
 * not run concurrently, and the iteration must have no result.
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
