package baton.benchmarks

import baton.Priority
import kotlin.random.Random
import org.openjdk.jmh.annotations.Benchmark
import org.openjdk.jmh.annotations.BenchmarkMode
import org.openjdk.jmh.annotations.Level
import org.openjdk.jmh.annotations.Measurement
import org.openjdk.jmh.annotations.Mode
import org.openjdk.jmh.annotations.OperationsPerInvocation
import org.openjdk.jmh.annotations.Param
import org.openjdk.jmh.annotations.Scope
import org.openjdk.jmh.annotations.Setup
import org.openjdk.jmh.annotations.State
import org.openjdk.jmh.annotations.TearDown
import org.openjdk.jmh.annotations.Warmup

open class TaskSchedulerBenchmark : BatonBenchmark() {
    abstract class Load {
        abstract var impl: String
        lateinit var tasks: Tasks
        val scheduled = arrayOfNulls<Any>(TASKS)

        @Setup
        fun create() {
            tasks = tasks(impl, concurrency = 2)
        }

        fun schedule() {
            for (i in 0 until TASKS) scheduled[i] = tasks.schedule(Priority.entries[i % LEVELS])
        }

        @TearDown
        fun end() {
            tasks.close()
        }
    }

    @State(Scope.Benchmark)
    open class Scheduling : Load() {
        /**
         * batonJava: Baton's scheduler by its Java API; async: `async` on a limited dispatcher; asyncPermit: `async`
         * that holds a permit of kotlinx' `Semaphore`; pbq: a pool over a PriorityBlockingQueue.
         */
        @Param("baton", "batonJava", "async", "asyncPermit", "pbq") override lateinit var impl: String
    }

    /** Tasks of all levels that do nothing are scheduled and awaited. */
    @Benchmark
    @OperationsPerInvocation(TASKS)
    fun schedule(state: Scheduling) {
        state.schedule()
        state.tasks.await(state.scheduled)
    }

    /** All of them queued, then started at once and awaited. */
    @Benchmark
    @OperationsPerInvocation(TASKS)
    fun backlog(state: Scheduling) {
        state.tasks.pause(true)
        state.schedule()
        state.tasks.pause(false)
        state.tasks.await(state.scheduled)
    }

    @State(Scope.Benchmark)
    open class Queue : Load() {
        /** Those that take a cancelled task out of the queue. */
        @Param("baton", "batonJava", "pbq") override lateinit var impl: String

        @Setup(Level.Invocation)
        fun fill() {
            tasks.pause(true)
            schedule()
            scheduled.shuffle(Random(1))
        }

        @TearDown(Level.Invocation)
        fun empty() {
            // Each of the peer's two threads may hold a task that it had taken before the pause.
            check(tasks.queued <= 2) { "${tasks.queued} left in the queue" }
            tasks.pause(false)
        }
    }

    /** Ten thousand queued tasks are cancelled one by one, in random order, and leave the queue. */
    @Benchmark
    @BenchmarkMode(Mode.SingleShotTime)
    @Warmup(iterations = 30)
    @Measurement(iterations = 30)
    @OperationsPerInvocation(TASKS)
    fun cancelQueued(state: Queue) {
        for (task in state.scheduled) state.tasks.cancel(checkNotNull(task))
    }

    private companion object {
        const val TASKS = 10_000
        const val LEVELS = 5
    }
}
