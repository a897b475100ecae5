package baton.benchmarks

import java.util.concurrent.ExecutorService

/**
 * Virtual threads that acquire the same lock of java.util.concurrent again and again. As in [Convoy], all of them queue
 * before the first one gets it; from then on nearly every one waits, which is not counted.
 *
 * @param queued how many threads wait.
 */
class VirtualConvoy(private val riders: List<Gate>, private val lids: List<Gate>, private val queued: () -> Int) :
    AutoCloseable {
    private val threads: ExecutorService = virtualThreads()

    fun loop(total: Int) = ride(total) {}

    /** Each holder yields while it holds. */
    fun loopHolding(total: Int) = ride(total) { Thread.yield() }

    private inline fun ride(total: Int, crossinline hold: () -> Unit) {
        lids.forEach(Calls::acquireFree)
        val rides =
            riders.map { gate ->
                threads.submit {
                    val tally = Tally()
                    repeat(total / riders.size) {
                        Calls.acquireFree(gate)
                        tally.work()
                        hold()
                        gate.release()
                    }
                }
            }
        while (queued() < riders.size) Thread.onSpinWait()
        lids.forEach(Gate::release)
        rides.forEach { it.get() }
    }

    override fun close() = threads.shutdown()
}
