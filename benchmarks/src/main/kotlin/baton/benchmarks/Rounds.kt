package baton.benchmarks

import arrow.fx.coroutines.CyclicBarrier as ArrowBarrier
import baton.sync.Barrier as BatonBarrier
import java.util.concurrent.Callable
import java.util.concurrent.CyclicBarrier as JucBarrier
import java.util.concurrent.Phaser
import kotlinx.coroutines.CoroutineStart.UNDISPATCHED
import kotlinx.coroutines.Dispatchers
import kotlinx.coroutines.launch
import kotlinx.coroutines.runBlocking

/** A fixed number of parties that arrive repeatedly at one barrier: all but the last wait each time. */
interface Rounds : AutoCloseable {
    fun run(cycles: Int)

    override fun close() {}
}

fun rounds(impl: String, parties: Int): Rounds =
    when (impl) {
        "baton" -> BatonRounds(parties)
        "arrow" -> ArrowRounds(parties)
        "juc" -> JucBarrier(parties).let { ThreadRounds(parties) { it.await() } }
        "phaser" -> Phaser(parties).let { ThreadRounds(parties) { it.arriveAndAwaitAdvance() } }
        else -> throw IllegalArgumentException("impl = $impl")
    }

private class BatonRounds(private val parties: Int) : Rounds {
    private val barrier = BatonBarrier(parties)

    override fun run(cycles: Int) = meet(parties, cycles) { barrier.arrive() }
}

private class ArrowRounds(private val parties: Int) : Rounds {
    private val barrier = ArrowBarrier(parties)

    override fun run(cycles: Int) = meet(parties, cycles) { barrier.await() }
}

/** Primed: all but one party have arrived before the last one arrives and releases them. */
private inline fun meet(parties: Int, cycles: Int, crossinline arrive: suspend () -> Unit) {
    runBlocking { repeat(parties) { launch(Dispatchers.Default, UNDISPATCHED) { repeat(cycles) { arrive() } } } }
}

private class ThreadRounds(private val parties: Int, private val arrive: () -> Unit) : Rounds {
    private val threads = virtualThreads()

    override fun run(cycles: Int) {
        val party = Callable { repeat(cycles) { arrive() } }
        threads.invokeAll(List(parties) { party }).forEach { it.get() }
    }

    override fun close() {
        threads.shutdown()
    }
}
