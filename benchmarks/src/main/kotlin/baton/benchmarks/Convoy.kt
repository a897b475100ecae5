package baton.benchmarks

import java.util.concurrent.atomic.AtomicInteger
import java.util.concurrent.atomic.LongAdder
import kotlin.coroutines.Continuation
import kotlin.coroutines.intrinsics.suspendCoroutineUninterceptedOrReturn
import kotlinx.coroutines.CoroutineScope
import kotlinx.coroutines.CoroutineStart.UNDISPATCHED
import kotlinx.coroutines.Dispatchers
import kotlinx.coroutines.launch
import kotlinx.coroutines.runBlocking
import kotlinx.coroutines.yield

/** Counts the acquires of one coroutine that did not wait, and does a little work inside. */
class Tally {
    var atOnce = 0
    private var work = 1

    fun work() {
        work = work * 31 + 1
    }
}

/**
 * Coroutines on [Dispatchers.Default] that all acquire the same permits at the same time.
 *
 * A convoy is primed: all permits are taken first, then all coroutines queue, and only then the permits are released.
 * From then on nearly every acquire waits, because the order is first come, first served. Coroutines that simply start
 * do not wait: on a few processors each finds a free permit and runs through.
 *
 * @param riders one gate for each coroutine, all of them of the same lock.
 * @param lids the gates whose acquires together take all permits.
 */
class Convoy(private val riders: List<Gate>, private val lids: List<Gate>) {
    private val acquires = LongAdder()
    private val atOnce = LongAdder()

    /** [total] acquires, divided among the coroutines, each of which loops in one frame. */
    fun loop(total: Int) {
        val rounds = total / riders.size
        ride(rounds) { gate, tally ->
            repeat(rounds) {
                gate.acquire(tally)
                tally.work()
                gate.release()
            }
        }
    }

    /** As [loop], but each holder yields while it holds, so that as many run as there are permits. */
    fun loopHolding(total: Int) {
        val rounds = total / riders.size
        ride(rounds) { gate, tally ->
            repeat(rounds) {
                gate.acquire(tally)
                tally.work()
                yield()
                gate.release()
            }
        }
    }

    /**
     * As [loop], but [times] gets how long each acquire took, and how many acquires each coroutine had. The first one
     * of each does not count: it waited for the others to queue.
     */
    fun loopTimed(total: Int, times: WaitTimes) {
        val left = AtomicInteger(total)
        primed {
            for (gate in riders) {
                launch(Dispatchers.Default, UNDISPATCHED) {
                    val tally = Tally()
                    var turns = 0
                    while (left.getAndDecrement() > 0) {
                        val start = System.nanoTime()
                        gate.acquire(tally)
                        if (turns++ > 0) times.add(System.nanoTime() - start)
                        gate.release()
                    }
                    times.addCaller(turns)
                    atOnce.add(tally.atOnce.toLong())
                }
            }
        }
        acquires.add(total.toLong())
    }

    /** As [loop], but each acquire sits in the frame of a suspend function that is called once. */
    fun loopOneShotFrames(total: Int) {
        val rounds = total / riders.size
        ride(rounds) { gate, tally -> repeat(rounds) { section(gate, tally) } }
    }

    private suspend fun section(gate: Gate, tally: Tally) {
        gate.acquire(tally)
        tally.work()
        gate.release()
    }

    private inline fun ride(rounds: Int, crossinline body: suspend CoroutineScope.(Gate, Tally) -> Unit) {
        primed {
            for (gate in riders) {
                launch(Dispatchers.Default, UNDISPATCHED) {
                    val tally = Tally()
                    body(gate, tally)
                    atOnce.add(tally.atOnce.toLong())
                }
            }
        }
        acquires.add(rounds.toLong() * riders.size)
    }

    /** A new coroutine for each of [total] acquires. For one permit: its holder alone writes the common tally. */
    fun oneShot(total: Int) {
        val gate = riders.first()
        val tally = Tally()
        primed {
            repeat(total) {
                launch(Dispatchers.Default, UNDISPATCHED) {
                    gate.acquire(tally)
                    tally.work()
                    gate.release()
                }
            }
        }
        acquires.add(total.toLong())
        atOnce.add(tally.atOnce.toLong())
    }

    private inline fun primed(crossinline queue: CoroutineScope.() -> Unit) {
        lids.forEach(Calls::acquireFree)
        runBlocking {
            queue()
            lids.forEach(Gate::release)
        }
    }

    /**
     * Checks after each iteration that most acquires have waited: otherwise the convoy has measured another case and
     * must have no result. Two riders on two processors are special: each may return before the other has queued again,
     * and then does not wait. The frequency of that depends on the implementation; see the percentage.
     */
    fun checkThatAcquiresSuspended() {
        val all = acquires.sumThenReset()
        val percent = 100 - 100 * atOnce.sumThenReset() / all
        print("($percent % suspended) ")
        Observed.note("suspended", percent.toDouble(), "%")
        val least = if (riders.size == 2) 20 else 90
        check(percent >= least) { "only $percent % of $all acquires suspended" }
    }
}

@Suppress("UNCHECKED_CAST") // Java's Continuation has no variance.
private suspend inline fun Gate.acquire(tally: Tally): Unit = suspendCoroutineUninterceptedOrReturn { caller ->
    Calls.acquire(this, caller as Continuation<Any>, tally)
}
