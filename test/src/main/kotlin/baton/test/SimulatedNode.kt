package baton.test

import baton.BatonClock
import baton.distributed.Cluster
import baton.test.simulation.Machine
import kotlin.coroutines.CoroutineContext
import kotlinx.coroutines.CoroutineScope

/**
 * A machine of [simulate], with a member of the cluster. Coroutines that its block launches belong to it. To be used on
 * the thread of the simulation alone.
 */
public class SimulatedNode
internal constructor(
    internal val machine: Machine,
    /** Its connection to the store. */
    public val store: FaultyStore,
    override val coroutineContext: CoroutineContext,
    private val open: (SimulatedNode) -> Cluster,
) : CoroutineScope {
    private val member = lazy(LazyThreadSafetyMode.NONE) { open(this) }

    /** In the events. */
    public val name: String
        get() = machine.name

    /** Its member of the cluster, which joins at its first use. */
    public val cluster: Cluster by member

    /** The clocks of the machine. What measures time without a clock of its own has this one in its coroutines. */
    public val clock: BatonClock
        get() = machine

    /** Whether the machine stands still. */
    public val isStopped: Boolean
        get() = machine.isStopped

    /** Stops the machine until [goOn], as SIGSTOP or a pause of the virtual machine does. Its clocks go on. */
    public fun stop() {
        machine.stop()
    }

    /** Ends the stop, unless the machine is dead. What was due meanwhile follows at once. */
    public fun goOn() {
        machine.goOn()
    }

    internal val clusterOrNull: Cluster?
        get() = if (member.isInitialized()) cluster else null

    override fun toString(): String = name
}
