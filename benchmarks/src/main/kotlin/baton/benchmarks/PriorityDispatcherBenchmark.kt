package baton.benchmarks

import baton.Priority
import java.util.concurrent.CountDownLatch
import java.util.concurrent.TimeUnit
import java.util.concurrent.atomic.AtomicInteger
import java.util.concurrent.atomic.AtomicIntegerArray
import kotlinx.coroutines.CoroutineDispatcher
import kotlinx.coroutines.Runnable
import kotlinx.coroutines.channels.Channel
import kotlinx.coroutines.coroutineScope
import kotlinx.coroutines.launch
import kotlinx.coroutines.runBlocking
import kotlinx.coroutines.yield
import org.openjdk.jmh.annotations.Benchmark
import org.openjdk.jmh.annotations.BenchmarkMode
import org.openjdk.jmh.annotations.Fork
import org.openjdk.jmh.annotations.Level
import org.openjdk.jmh.annotations.Mode
import org.openjdk.jmh.annotations.OperationsPerInvocation
import org.openjdk.jmh.annotations.OutputTimeUnit
import org.openjdk.jmh.annotations.Param
import org.openjdk.jmh.annotations.Scope
import org.openjdk.jmh.annotations.Setup
import org.openjdk.jmh.annotations.State
import org.openjdk.jmh.annotations.TearDown

/**
 * The cost of five levels for work that does not need them, and their benefit for urgent work. Default has more threads
 * than the requested parallelism: otherwise its `limitedParallelism` is no limit, and returns Default itself.
 */
@Fork(
    1,
    jvmArgsAppend =
        [
            "-Xms384m",
            "-Xmx384m",
            "-XX:+AlwaysPreTouch",
            "-XX:+UseG1GC",
            "-Dkotlinx.coroutines.scheduler.core.pool.size=4",
        ],
)
open class PriorityDispatcherBenchmark : BatonBenchmark() {
    @State(Scope.Benchmark)
    open class Dispatching {
        /** limited: Default.limitedParallelism; default: Default itself; pbq: a pool over a PriorityBlockingQueue. */
        @Param("baton", "limited", "default", "pbq") lateinit var impl: String
        lateinit var dispatcher: CoroutineDispatcher

        @Setup
        fun create() {
            dispatcher = dispatcher(impl, parallelism = 2)
        }

        @TearDown
        fun end() {
            (dispatcher as? PriorityBlockingQueueDispatcher)?.close()
        }
    }

    /** One thread dispatches blocks of all levels that do almost nothing, until all have run. */
    @Benchmark
    @OperationsPerInvocation(BLOCKS)
    fun fanOut(state: Dispatching) {
        // On a cache line of its own: beside the block, each count would take the block from the other threads.
        val left = AtomicIntegerArray(33).also { it[16] = BLOCKS }
        val done = CountDownLatch(1)
        val block = Runnable { if (left.decrementAndGet(16) == 0) done.countDown() }
        for (i in 0 until BLOCKS) state.dispatcher.dispatch(Priority.entries[i % LEVELS], block)
        done.await()
    }

    /** Coroutines that do nothing are launched and awaited. */
    @Benchmark
    @OperationsPerInvocation(BLOCKS)
    fun launch(state: Dispatching) = runBlocking { coroutineScope { repeat(BLOCKS) { launch(state.dispatcher) {} } } }

    /** A hundred coroutines that yield a hundred times. */
    @Benchmark
    @OperationsPerInvocation(YIELDS * YIELDS)
    fun yield(state: Dispatching) = runBlocking {
        coroutineScope { repeat(YIELDS) { launch(state.dispatcher) { repeat(YIELDS) { yield() } } } }
    }

    /** Two coroutines pass an element back and forth through two rendezvous channels. */
    @Benchmark
    @OperationsPerInvocation(BLOCKS)
    fun pingPong(state: Dispatching) =
        runBlocking(state.dispatcher) {
            val ping = Channel<Int>()
            val pong = Channel<Int>()
            launch { repeat(BLOCKS) { pong.send(ping.receive()) } }
            repeat(BLOCKS) {
                ping.send(it)
                pong.receive()
            }
        }

    @State(Scope.Benchmark)
    open class Backlog {
        @Param("baton", "limited", "pbq") lateinit var impl: String

        /** The age of the backlog in milliseconds when an urgent block is dispatched. */
        @Param("0", "700") var age = 0
        private lateinit var dispatcher: CoroutineDispatcher
        private val waiting = AtomicInteger()

        @Volatile private var started = false

        @Setup
        fun create() {
            // One thread works, and the other processor is free for the waiting thread.
            dispatcher = dispatcher(impl, parallelism = 1)
        }

        @Setup(Level.Invocation)
        fun fill() {
            // The blocks that are left when the time has elapsed are that old.
            val meanwhile = age * 1_000_000L / WORK_NANOS
            while (waiting.get() < BACKLOG + meanwhile) {
                waiting.incrementAndGet()
                dispatcher.dispatch(Priority.LOW) {
                    waiting.decrementAndGet()
                    val end = System.nanoTime() + WORK_NANOS
                    while (System.nanoTime() < end) Thread.onSpinWait()
                }
            }
            if (age > 0) Thread.sleep(age.toLong())
        }

        fun runUrgently() {
            started = false
            dispatcher.dispatch(Priority.CRITICAL) { started = true }
            while (!started) Thread.onSpinWait()
        }

        @TearDown
        fun end() {
            (dispatcher as? PriorityBlockingQueueDispatcher)?.close()
            while (dispatcher !is PriorityBlockingQueueDispatcher && waiting.get() > 0) Thread.sleep(1)
        }
    }

    /** From a dispatch at CRITICAL to its start, behind 20,000 blocks of LOW that work 20 µs each. */
    @Benchmark
    @BenchmarkMode(Mode.SampleTime)
    @OutputTimeUnit(TimeUnit.NANOSECONDS)
    fun criticalLatency(backlog: Backlog) {
        backlog.runUrgently()
    }

    private companion object {
        const val BLOCKS = 10_000
        const val LEVELS = 5
        const val YIELDS = 100
        const val BACKLOG = 20_000
        const val WORK_NANOS = 20_000L
    }
}
