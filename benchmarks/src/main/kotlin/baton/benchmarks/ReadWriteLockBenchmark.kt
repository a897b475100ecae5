package baton.benchmarks

import java.util.concurrent.ExecutorService
import java.util.concurrent.Future
import kotlinx.coroutines.Dispatchers
import kotlinx.coroutines.launch
import kotlinx.coroutines.runBlocking
import kotlinx.coroutines.yield
import org.openjdk.jmh.annotations.Benchmark
import org.openjdk.jmh.annotations.Level
import org.openjdk.jmh.annotations.OperationsPerInvocation
import org.openjdk.jmh.annotations.Param
import org.openjdk.jmh.annotations.Scope
import org.openjdk.jmh.annotations.Setup
import org.openjdk.jmh.annotations.State
import org.openjdk.jmh.annotations.TearDown
import org.openjdk.jmh.annotations.Threads

open class ReadWriteLockBenchmark : BatonBenchmark() {
    @State(Scope.Benchmark)
    open class Free {
        @Param("baton", "juc", "stamped", "kotlinx") lateinit var impl: String
        lateinit var read: Gate
        lateinit var write: Gate

        @Setup
        fun create() {
            val gates = readWriteGates(impl)
            read = gates.read
            write = gates.write
        }
    }

    @Benchmark
    fun uncontendedRead(state: Free) {
        Calls.acquireFree(state.read)
        state.read.release()
    }

    @Benchmark
    fun uncontendedWrite(state: Free) {
        Calls.acquireFree(state.write)
        state.write.release()
    }

    @State(Scope.Benchmark)
    open class Readers {
        @Param("baton", "juc", "stamped") lateinit var impl: String
        lateinit var read: Gate

        @Setup
        fun create() {
            read = readWriteGates(impl).read
        }
    }

    /** Two readers that contend for the word and do not exclude each other. */
    @Benchmark
    @Threads(2)
    @Suppress("UNUSED_PARAMETER")
    fun twoReaders(state: Readers, processor: Processor) {
        Calls.acquireFree(state.read)
        state.read.release()
    }

    @State(Scope.Benchmark)
    open class Mix {
        @Param("baton", "kotlinx", "juc-fair-virtual") lateinit var impl: String

        @Param("100", "90", "50") var readPercent = 0

        /** Nanoseconds of work inside, before the access yields the processor. */
        @Param("0") var work = 0L
        private lateinit var gates: ReadWriteGates
        private var threads: ExecutorService? = null

        @Setup
        fun create() {
            gates = readWriteGates(impl)
            if (impl.endsWith("virtual")) threads = virtualThreads()
        }

        @TearDown
        fun close() {
            threads?.shutdown()
        }

        /** Each access works and then yields the processor while it is inside. */
        fun run() {
            val threads = threads ?: return runCoroutines()
            List(CALLERS) { caller -> threads.submit { runBlockingCaller(caller) } }.forEach(Future<*>::get)
        }

        private fun runCoroutines() =
            runBlocking(Dispatchers.Default) {
                repeat(CALLERS) { caller ->
                    launch {
                        repeat(TURNS) { turn ->
                            val gate = gate(caller, turn)
                            gate.acquire()
                            work()
                            yield()
                            gate.release()
                        }
                    }
                }
            }

        private fun runBlockingCaller(caller: Int) {
            repeat(TURNS) { turn ->
                val gate = gate(caller, turn)
                Calls.acquireFree(gate)
                work()
                Thread.yield()
                gate.release()
            }
        }

        private fun work() {
            if (work == 0L) return
            val end = System.nanoTime() + work
            while (System.nanoTime() < end) Thread.onSpinWait()
        }

        /** The writes are spread evenly, and differently for each caller. */
        private fun gate(caller: Int, turn: Int) =
            if ((caller * 37 + turn * 61) % 100 < readPercent) gates.read else gates.write
    }

    /** Coroutines, or virtual threads, that read and write alternately and suspend inside. */
    @Benchmark
    @OperationsPerInvocation(CALLERS * TURNS)
    fun mix(state: Mix) {
        state.run()
    }

    @State(Scope.Benchmark)
    open class Writers {
        @Param("baton", "kotlinx") lateinit var impl: String
        lateinit var convoy: Convoy

        @Setup
        fun create() {
            val write = readWriteGates(impl).write
            convoy = Convoy(riders = List(1000) { write }, lids = listOf(write))
        }

        @TearDown(Level.Iteration)
        fun check() {
            convoy.checkThatAcquiresSuspended()
        }
    }

    /** A thousand coroutines that all write. */
    @Benchmark
    @OperationsPerInvocation(ACQUIRES)
    fun writeConvoy(state: Writers) {
        state.convoy.loop(ACQUIRES)
    }

    private companion object {
        const val CALLERS = 64
        const val TURNS = 500
    }
}
