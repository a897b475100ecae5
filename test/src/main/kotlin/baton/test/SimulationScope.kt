package baton.test

import kotlin.random.Random

/** The world of one seed of [simulate]. To be used on the thread of the simulation alone. */
public class SimulationScope internal constructor(private val run: SimulationRun) {
    /** Random numbers that the seed decides, for the body and the blocks of the nodes. */
    public val random: Random
        get() = run.random

    /** The store of all nodes, over a connection without faults: a check may read it, or lose documents on purpose. */
    public val store: FaultyStore
        get() = run.store

    /** The virtual time since the seed began, in nanoseconds. */
    public val nanos: Long
        get() = run.nanos

    /**
     * Adds a machine that runs [block], and begins it at any time within the first second. It has ended when the block
     * and all coroutines that it has launched have ended.
     *
     * @param name for the events; by default "node 1", "node 2" and so on.
     * @param isEndless whether the block need not end by itself. It is cancelled when all others have ended.
     */
    public fun node(
        name: String? = null,
        isEndless: Boolean = false,
        block: suspend SimulatedNode.() -> Unit,
    ): SimulatedNode = run.node(name, isEndless, block)

    /** The faults that may happen; without this there are none. See [SimulatedFaults]. */
    public fun faults(faults: SimulatedFaults.() -> Unit) {
        run.faults.faults()
    }

    /** Checks [holds] after each step of a node, until all have ended. [what] names it in the error. */
    public fun always(what: String = "", holds: () -> Boolean) {
        run.always(what, holds)
    }

    /** Runs [check] once all nodes have ended. An exception fails the seed. Several run in their order. */
    public fun afterwards(check: () -> Unit) {
        run.afterwards(check)
    }

    /** Adds [event] to the events that an error shows. Called only where they are recorded. */
    public fun note(event: () -> String) {
        run.record.add(event)
    }
}
