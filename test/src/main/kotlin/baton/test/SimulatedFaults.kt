package baton.test

import baton.test.simulation.Record
import java.util.SplittableRandom
import kotlin.time.Duration
import kotlin.time.Duration.Companion.hours
import kotlin.time.Duration.Companion.seconds
import kotlin.time.toJavaDuration

/**
 * The faults of a simulation, see [SimulationScope.faults].
 *
 * Calls to the store go wrong with a chance that each seed draws for each fault, from zero to the one that is given.
 *
 * The other faults happen at any time, each up to `times` times in a seed, in many seeds not at all. Several may hit at
 * the same time.
 */
public class SimulatedFaults
internal constructor(private val run: SimulationRun, private val random: SplittableRandom) {
    private val onStart = ArrayList<() -> Unit>()
    private var outages = 0
    private var refusedBefore = emptyList<Double>()

    internal fun begin() {
        onStart.forEach { it() }
    }

    // ---- calls to the store

    private fun chance(most: Double, set: FaultyStore.(Double) -> Unit) {
        require(most > 0 && most <= 1) { "chance = $most, must be above 0, and at most 1" }
        onStart += {
            val chance = random.nextDouble(most)
            for (node in run.nodes) node.store.set(chance)
        }
    }

    /** Calls take long, by up to [upTo]. */
    public fun delayCalls(chance: Double = 0.1, upTo: Duration = 6.seconds) {
        chance(chance) {
            slow = it
            slowest = upTo.toJavaDuration()
        }
    }

    /** Calls fail with `StoreUnavailableException`, and do nothing. */
    public fun refuseCalls(chance: Double = DEFAULT_CHANCE): Unit = chance(chance) { refused = it }

    /** Calls do nothing, and never end. */
    public fun loseRequests(chance: Double = DEFAULT_CHANCE): Unit = chance(chance) { requestLost = it }

    /** Calls do their work, and never end. */
    public fun loseAnswers(chance: Double = DEFAULT_CHANCE): Unit = chance(chance) { answerLost = it }

    /** Calls reach the store a second time, some time later. */
    public fun repeatCalls(chance: Double = DEFAULT_CHANCE): Unit = chance(chance) { repeated = it }

    /** Bells are not heard. */
    public fun loseBells(chance: Double = 0.5): Unit = chance(chance) { bellLost = it }

    // ---- machines

    private fun plan(times: Int, fault: () -> Unit) {
        require(times >= 1) { "times = $times, must be at least 1" }
        onStart += { run.plan.plan(times, fault) }
    }

    private fun anyNode(): SimulatedNode? {
        val nodes = run.nodes.filter { !it.isStopped && it.coroutineContext.isAlive() }
        val stepping = nodes.find { it.machine === run.plan.stepping }
        if (stepping != null && random.nextInt(STEPPING_SHARE) != 0) return stepping
        return if (nodes.isEmpty()) null else nodes[random.nextInt(nodes.size)]
    }

    /** A machine stands still for [duration], as by SIGSTOP or a long pause of the collector. */
    public fun stop(duration: Duration, times: Int = DEFAULT_TIMES) {
        plan(times) {
            val node = anyNode() ?: return@plan
            run.record.add { "$node is stopped for $duration" }
            node.stop()
            run.after(duration) {
                if (node.isStopped) run.record.add { "$node goes on" }
                node.goOn()
            }
        }
    }

    /** A machine dies, as by kill -9. Its block need not end. */
    public fun kill(times: Int = 1) {
        plan(times) {
            val node = anyNode() ?: return@plan
            run.record.add { "$node is killed" }
            run.kill(node)
        }
    }

    /** A machine is cut off from the store for [duration]. */
    public fun cutOff(duration: Duration, times: Int = DEFAULT_TIMES) {
        plan(times) {
            val node = anyNode() ?: return@plan
            run.record.add { "$node is cut off for $duration" }
            node.store.isCutOff = true
            run.after(duration) { node.store.isCutOff = false }
        }
    }

    /** The wall clock of a machine jumps, forwards or back, by up to [upTo]. */
    public fun jumpClock(upTo: Duration = 1.hours, times: Int = DEFAULT_TIMES) {
        plan(times) {
            val node = anyNode() ?: return@plan
            val by = upTo * random.nextDouble(-1.0, 1.0)
            run.record.add { "the wall clock of $node jumps by $by" }
            node.machine.wallOffset = node.machine.wallOffset.plus(by.toJavaDuration())
        }
    }

    /** The clocks of each machine are faster or slower than the true time, by a share of up to [upTo]. */
    public fun driftClocks(upTo: Double = 0.05) {
        require(upTo > 0 && upTo < 1) { "upTo = $upTo, must be above 0, and below 1" }
        onStart += { for (node in run.nodes) node.machine.speed = 1 + random.nextDouble(-upTo, upTo) }
    }

    // ---- the store

    /** The store refuses all calls for [duration]. */
    public fun outage(duration: Duration, times: Int = DEFAULT_TIMES) {
        plan(times) {
            run.record.add { "the store is away for $duration" }
            if (outages++ == 0) refusedBefore = run.nodes.map { it.store.refused }
            for (node in run.nodes) node.store.refused = 1.0
            run.after(duration) {
                if (--outages == 0) run.nodes.zip(refusedBefore) { node, chance -> node.store.refused = chance }
            }
        }
    }

    /** A document vanishes alone, as by an eviction. */
    public fun loseDocument(times: Int = DEFAULT_TIMES) {
        plan(times) {
            val keys = run.store.keys().sorted()
            if (keys.isEmpty()) return@plan
            val key = keys[random.nextInt(keys.size)]
            run.record.add { "the store loses $key" }
            run.store.lose(key)
        }
    }

    /** The store comes back empty. */
    public fun emptyStore(times: Int = DEFAULT_TIMES) {
        plan(times) {
            run.record.add { "the store comes back empty" }
            run.store.loseAll()
        }
    }

    /**
     * The store forgets its last writes, up to [upTo] of them, as a standby that takes over without them. No lock is
     * safe then: see [FaultyStore.forgetLast].
     */
    public fun forgetWrites(upTo: Int = 5, times: Int = DEFAULT_TIMES) {
        require(upTo >= 1) { "upTo = $upTo, must be at least 1" }
        plan(times) {
            val count = random.nextInt(1, upTo + 1)
            run.record.add { "the store forgets its last $count writes, at ${Record.timeOf(run.nanos)}" }
            run.store.forgetLast(count)
        }
    }

    private companion object {
        const val DEFAULT_CHANCE = 0.05
        const val DEFAULT_TIMES = 2
        const val STEPPING_SHARE = 4
    }
}
