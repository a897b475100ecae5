package baton.monitoring.core

import baton.waiting.holders.Holder
import baton.waiting.holders.LockLook
import java.util.IdentityHashMap
import kotlinx.coroutines.Job

/*
 * How deadlocks are found
 *
 *   wait ──▶ the group of holders that it waits for ──▶ each hold ──▶ the actor that holds ──▶ each wait of that actor
 *
 * An actor is what a hold and a wait have in common: a Job, or an owner. A cycle in this graph is a cycle of callers of
 * which none can go on. The vertices between make its size linear in the waits and holds, where each of a thousand
 * writers waits for each of a thousand readers.
 *
 * (1) A look at one lock is exact. The looks at several locks are not of one moment; so a cycle in one graph may never
 *     have been. Every note stands for one wait or one hold: a cycle of the same notes in two graphs, whose looks do not
 *     overlap, did stand all the time in between (DeadlockSearch).
 * (2) A hold belongs to the Job of its caller, or to the one around that when it was a scoped block which has ended (see
 *     liveHolder). A wait counts for the Job of its caller and for every Job above.
 * (3) Owners count only where a Job is missing: several coroutines may use one owner. The wait of a future is that of its
 *     owner's holds; the hold of a future is that of all waits with its owner.
 * (4) Whether a parent waits for its child, and whether a caller will unlock what it holds, is unknown. So a cycle is a
 *     hint until it has stood for a while.
 */
internal class WaitForGraph(locks: List<LockLook>) {
    /** One wait, the lock for which it is, and its vertex. */
    class Waiting(val lock: LockLook, val wait: LockLook.Wait, val vertex: Int) {
        val caller: Holder
            get() = wait.caller
    }

    /** A wait of a cycle, and a hold for which it waits; the next step's wait is of that hold's actor. */
    class Step(val waiting: Waiting, val hold: LockLook.Hold)

    private val byCaller = IdentityHashMap<Holder, Waiting>()
    private val vertices = ArrayList<Any>()
    private val successors = ArrayList<MutableList<Int>>()

    init {
        for (lock in locks) for (wait in lock.waits) add(lock, wait)
        val actors = Actors()
        for (lock in locks) addHolds(lock, actors)
        for (waiting in byCaller.values) for (actor in actors.of(waiting.caller)) successors[actor] += waiting.vertex
    }

    private fun add(lock: LockLook, wait: LockLook.Wait) {
        val waiting = Waiting(lock, wait, vertices.size)
        newVertex(waiting)
        byCaller[wait.caller] = waiting
    }

    private fun addHolds(lock: LockLook, actors: Actors) {
        val groups = HashMap<Int, Int>(2)
        for (hold in lock.holds) {
            val vertex = newVertex(hold)
            successors[groups.getOrPut(hold.group) { newVertex(lock) }] += vertex
            successors[vertex] += actors.holding(hold.caller)
        }
        for (wait in lock.waits) {
            val from = byCaller.getValue(wait.caller).vertex
            for ((group, vertex) in groups) if (group and wait.groups != 0) successors[from] += vertex
        }
    }

    private fun newVertex(of: Any): Int {
        vertices += of
        successors += ArrayList<Int>(2)
        return vertices.size - 1
    }

    fun cycles(): List<List<Step>> =
        CycleSearch(successors.map { it.toIntArray() }).cycles().map { cycle -> steps(cycle.map(vertices::get)) }

    private fun steps(cycle: List<Any>): List<Step> {
        val start = cycle.indexOfFirst { it is Waiting }
        val inOrder = cycle.drop(start) + cycle.take(start)
        val holds = inOrder.filterIsInstance<LockLook.Hold>()
        return inOrder.filterIsInstance<Waiting>().mapIndexed { i, waiting -> Step(waiting, holds[i]) }
    }

    /** The cycle of the same waits and holds, as they are now; null if one of them has ended. */
    fun standing(cycle: List<Pair<Holder, Holder>>): List<Step>? =
        cycle.map { (waiter, holder) ->
            val waiting = byCaller[waiter] ?: return null
            val hold = waiting.lock.holds.find { it.caller === holder && it.group and waiting.wait.groups != 0 }
            Step(waiting, hold ?: return null)
        }

    /** The vertices of the actors that hold something. */
    private inner class Actors {
        private val jobs = IdentityHashMap<Job, Int>()

        /** By owner, for the holds without a Job: all waits with that owner are theirs. */
        private val owners = IdentityHashMap<Any, Int>()

        /** By owner, for the holds with a Job: the waits with that owner and without a Job are theirs, too. */
        private val ownersOfJobs = IdentityHashMap<Any, Int>()

        fun holding(caller: Holder): List<Int> {
            val job = caller.liveHolder()
            val owner = caller.owner
            val ofJob = job?.let { jobs.getOrPut(it) { newVertex(it) } }
            val ofOwner = owner?.let { (if (job == null) owners else ownersOfJobs).getOrPut(it) { newVertex(it) } }
            return listOfNotNull(ofJob, ofOwner)
        }

        fun of(waiter: Holder): List<Int> {
            val ofJobs = waiter.jobAndThoseAbove().mapNotNull(jobs::get).toList()
            val owner = waiter.owner ?: return ofJobs
            return ofJobs + listOfNotNull(owners[owner], if (waiter.job == null) ownersOfJobs[owner] else null)
        }
    }
}
