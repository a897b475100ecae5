package baton.scheduler.dispatch

import baton.Boosting.Boost
import baton.Priority
import baton.PriorityController
import baton.PriorityElement
import java.util.Collections
import java.util.WeakHashMap
import java.util.concurrent.ConcurrentHashMap
import kotlin.coroutines.CoroutineContext
import kotlinx.coroutines.DisposableHandle
import kotlinx.coroutines.ExperimentalCoroutinesApi
import kotlinx.coroutines.Job

/**
 * Which coroutines of a dispatcher are lifted above their own level, and by how much: a coroutine that was boosted,
 * and all inside it. Mostly nobody ever was, and then a dispatch pays two volatile reads for it.
 *
 * Whoever changes a level changes [epoch] first and then moves what stands in a line; whoever enqueues reads [epoch]
 * before it reads the level and again after it has enqueued. So one of the two sees the other, and no block stays
 * behind.
 */
internal class PriorityBoosts(core: PriorityRunQueue) : PriorityController.Follower {
    private val lines = Collections.newSetFromMap(WeakHashMap<RunQueue, Boolean>()).apply { add(core) }
    private val boosts = ConcurrentHashMap<Job, List<Lift>>()

    /** How often a level has changed; 0 means that nobody was ever lifted. Written under the lock of [lines]. */
    @Volatile
    var epoch: Int = 0
        private set

    /** A line whose blocks are to move, too; it is not kept alive. */
    fun add(line: RunQueue) {
        synchronized(lines) { lines.add(line) }
    }

    /** The more urgent of [own] and the level to which a coroutine of [context] is lifted. */
    fun lifted(context: CoroutineContext, own: Int): Int =
        if (isEmpty) own else minOf(own, context.ancestry().minOfOrNull(::liftOf) ?: own)

    /** Nobody is lifted. */
    val isEmpty: Boolean get() = boosts.isEmpty()

    private fun liftOf(job: Job) = boosts[job]?.minOf { it.level } ?: Int.MAX_VALUE

    /** [own] is the level that the coroutine has by itself. */
    fun lift(context: CoroutineContext, own: Int, priority: Priority): Boost {
        val job = context[Job] ?: return NOTHING
        val lift = Lift(job, priority.ordinal)
        boosts.merge(job, listOf(lift)) { before, more -> before + more }
        lift.watch()
        // Whoever is up there already stands there; what it has inside may not.
        val mayStandBelow = own > lift.level || job.children.any()
        changed(below = if (mayStandBelow) lift.level else RunQueue.LEVELS.lastIndex) { job in it.ancestry() }
        return lift
    }

    override fun levelChanged(controller: PriorityController) {
        changed { it[PriorityElement] === controller }
    }

    private fun changed(below: Int = -1, isMeant: (CoroutineContext) -> Boolean) {
        val all =
            synchronized(lines) {
                epoch++
                lines.toList()
            }
        for (line in all) line.move(below, isMeant)
    }

    private inner class Lift(private val job: Job, val level: Int) : Boost {
        private lateinit var watch: DisposableHandle

        /** Nobody may come and end the boost of a coroutine that has ended. */
        fun watch() {
            watch = job.invokeOnCompletion { remove() }
        }

        override fun end() {
            remove()
            watch.dispose()
        }

        private fun remove() {
            boosts.computeIfPresent(job) { _, lifts -> (lifts - this).ifEmpty { null } }
        }
    }

    private companion object {
        val NOTHING = Boost {}

        /**
         * The coroutine itself and those that it is a part of. `Job.parent` is an experimental API of
         * kotlinx.coroutines. Tested against kotlinx-coroutines 1.9.0, 1.10.2 and 1.11.0.
         */
        @OptIn(ExperimentalCoroutinesApi::class)
        fun CoroutineContext.ancestry(): Sequence<Job> = generateSequence(this[Job]) { it.parent }
    }
}
