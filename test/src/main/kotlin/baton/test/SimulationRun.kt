package baton.test

import baton.BatonClock
import baton.distributed.Cluster
import baton.distributed.CoordinationStore
import baton.distributed.Lease
import baton.distributed.LeaseLostException
import baton.distributed.OutcomeUnknownException
import baton.distributed.StoreUnavailableException
import baton.distributed.bridge.ClusterObserver
import baton.distributed.bridge.locksOf
import baton.distributed.bridge.openCluster
import baton.test.simulation.FaultPlan
import baton.test.simulation.Machine
import baton.test.simulation.Record
import baton.test.simulation.VirtualLoop
import java.util.SplittableRandom
import kotlin.coroutines.CoroutineContext
import kotlin.coroutines.cancellation.CancellationException
import kotlin.random.Random
import kotlin.time.Duration
import kotlinx.coroutines.CoroutineExceptionHandler
import kotlinx.coroutines.Job
import kotlinx.coroutines.SupervisorJob
import kotlinx.coroutines.job
import kotlinx.coroutines.launch

/** One seed of [simulate]. */
internal class SimulationRun(
    seed: Long,
    private val lease: Duration,
    duration: Duration,
    createStore: (BatonClock) -> CoordinationStore,
    isRecorded: Boolean,
) {
    private val source = SplittableRandom(seed)
    private val end = duration.inWholeNanoseconds
    private val loop = VirtualLoop(source.split())
    val record = Record(isRecorded, loop)
    val random = Random(source.nextLong())
    val plan = FaultPlan(loop, source.split(), until = end / 2)
    val faults = SimulatedFaults(this, source.split())
    val store = FaultyStore(createStore(loop), loop, source.split())
    val nodes = ArrayList<SimulatedNode>()

    private val begins = ArrayList<() -> Unit>()
    /** The nodes that have to end, and have not. */
    private val open = ArrayList<SimulatedNode>()
    private val invariants = ArrayList<Pair<String, () -> Boolean>>()
    private val finals = ArrayList<() -> Unit>()
    private val held = LinkedHashMap<Lease, String>()
    private val world = SupervisorJob()
    private val uncaught = CoroutineExceptionHandler { _, e -> reported(e) }
    private var failure: SimulationFailure? = null

    val nanos: Long
        get() = loop.nanos

    // ---- the world

    fun node(name: String?, isEndless: Boolean, block: suspend SimulatedNode.() -> Unit): SimulatedNode {
        check(loop.nanos == 0L && loop.stepsAtOnce == 0) { "a node is added after the time has begun" }
        val machine = Machine(name ?: "node ${nodes.size + 1}", loop, plan::beforeStep)
        machine.isRecorded = record.isOn
        val connection = store.connection(machine, source.split())
        connection.onFault { fault -> record.add { "$machine: $fault" } }
        val job = Job(world)
        val node = SimulatedNode(machine, connection, machine + uncaught + job, ::open)
        nodes += node
        if (!isEndless) open += node
        job.invokeOnCompletion { cause -> ended(node, cause) }
        val start = plan.spread(1, LATEST_START)
        begins += {
            loop.after(start) {
                record.add { "$machine begins" }
                node.launch { node.block() }
                job.complete()
            }
        }
        return node
    }

    private fun open(node: SimulatedNode): Cluster =
        openCluster(
            node.store,
            lease,
            node.name,
            NAMESPACE,
            node.clock,
            node.machine + uncaught + world,
            Random(source.nextLong()),
            if (record.isOn) Events(node) else Warnings(node),
        )

    private open inner class Warnings(val node: SimulatedNode) : ClusterObserver {
        /** A lock without users is collected some time, which would depend on real time. */
        private val kept = HashMap<String, Lease>()

        override fun granted(lease: Lease, lock: String, permits: Int) {
            kept[lock] = lease
        }

        override fun released(lease: Lease) {}

        override fun lost(lease: Lease, why: String) {}

        override fun warned(warning: Throwable) {
            record.add { "${node.name} warns: ${warning.message}" }
        }
    }

    private inner class Events(node: SimulatedNode) : Warnings(node) {
        override fun granted(lease: Lease, lock: String, permits: Int) {
            super.granted(lease, lock, permits)
            held[lease] = "$permits of $lock with the token ${lease.fencingToken}"
            record.add { "${node.name} is granted ${held[lease]}" }
        }

        override fun released(lease: Lease) {
            record.add { "${node.name} releases ${held.remove(lease)}" }
        }

        override fun lost(lease: Lease, why: String) {
            record.add { "${node.name} loses ${held.remove(lease)}: $why" }
        }
    }

    fun always(what: String, holds: () -> Boolean) {
        invariants += (if (what.isEmpty()) "always, number ${invariants.size + 1}" else "always '$what'") to holds
    }

    fun afterwards(check: () -> Unit) {
        finals += check
    }

    fun after(wait: Duration, block: () -> Unit) {
        loop.after(wait.inWholeNanoseconds, block)
    }

    // ---- the run

    /** Null if all is well. */
    fun run(body: SimulationScope.() -> Unit): SimulationFailure? {
        val thread = Thread.currentThread()
        val handler = thread.uncaughtExceptionHandler.takeIf { it !== thread.threadGroup }
        thread.setUncaughtExceptionHandler { _, e -> reported(e) }
        try {
            guarded("the body") { SimulationScope(this).body() }
            if (failure == null) begin()
            while (failure == null && open.isNotEmpty()) step()
            if (failure == null) for (check in finals) guarded("afterwards", check)
            return failure
        } finally {
            finish()
            thread.setUncaughtExceptionHandler(handler)
        }
    }

    private fun begin() {
        faults.begin()
        begins.forEach { it() }
        loop.after(end / 2) { heal() }
    }

    private fun heal() {
        record.add { "from now on there are no faults" }
        for (node in nodes) {
            node.goOn()
            node.store.run {
                isCutOff = false
                slow = 0.0
                refused = 0.0
                requestLost = 0.0
                answerLost = 0.0
                repeated = 0.0
                bellLost = 0.0
            }
        }
    }

    private fun step() {
        loop.stranger?.let {
            return fail("a coroutine of a node was resumed by the thread '$it', which is not part of the simulation")
        }
        if (loop.isEmpty) return fail("nothing can go on, and ${unended()}", details = waits())
        if (loop.next >= end) return fail("in the whole duration, ${unended()}", details = waits())
        if (loop.stepsAtOnce > MOST_AT_ONCE) return fail("$MOST_AT_ONCE steps while no time passes", details = waits())
        try {
            loop.step()
        } catch (e: Throwable) {
            return fail("a step has thrown $e", e)
        }
        for (i in invariants.indices) {
            val (name, holds) = invariants[i]
            guarded(name) { if (!holds()) fail("$name: does not hold") }
        }
    }

    private inline fun guarded(what: String, check: () -> Unit) {
        if (failure != null) return
        try {
            check()
        } catch (e: Throwable) {
            fail("$what: $e", e)
        }
    }

    private fun unended() = open.joinToString() + " did not end"

    fun kill(node: SimulatedNode) {
        node.machine.kill()
        open -= node
    }

    /** What the nodes wait for, and what is held. */
    private fun waits(): String {
        if (!record.isOn) return ""
        val lines =
            nodes.flatMap { node ->
                val locks = node.clusterOrNull?.let(::locksOf).orEmpty()
                val state = if (node.isStopped) "$node is stopped" else "$node"
                node.machine.lines().map { "$state waits at $it" } + locks
            } + held.values.map { "held: $it" }
        return lines.joinToString("", "\nThen:") { "\n  $it" }
    }

    private fun ended(node: SimulatedNode, cause: Throwable?) {
        open -= node
        if (failure != null) return
        record.add { if (cause == null) "$node ends" else "$node ends by $cause" }
        if (cause != null && cause !is CancellationException && !cause.isOfFaults())
            fail("$node has thrown $cause", cause)
    }

    /** An exception that has reached no caller. Each outage of a store is reported. */
    private fun reported(e: Throwable) {
        if (e.isOfFaults() || e.cause?.isOfFaults() == true) record.add { "reported: ${e.message}" }
        else fail("an exception was reported: ${generateSequence(e) { it.cause }.joinToString(", by ")}", e)
    }

    private fun fail(text: String, cause: Throwable? = null, details: String = "") {
        if (failure != null) return
        failure = SimulationFailure(text, loop.nanos, cause, details)
        record.end()
    }

    /** Gives the coroutines that are left an end. */
    private fun finish() {
        val outcome = failure
        failure = outcome ?: SimulationFailure("", 0)
        nodes.forEach { it.goOn() }
        world.cancel(null)
        nodes.forEach { it.clusterOrNull?.close() }
        var left = LAST_STEPS
        while (left-- > 0 && loop.next <= loop.nanos) {
            try {
                loop.step()
            } catch (_: Throwable) {
                break
            }
        }
        failure = outcome
    }

    private companion object {
        const val NAMESPACE = "simulation"
        const val LATEST_START = 1_000_000_000L
        const val MOST_AT_ONCE = 200_000
        const val LAST_STEPS = 10_000
    }
}

internal fun CoroutineContext.isAlive(): Boolean = !job.isCompleted

private fun Throwable.isOfFaults() =
    this is LeaseLostException || this is StoreUnavailableException || this is OutcomeUnknownException
