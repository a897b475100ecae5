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
 * The boosts of a dispatcher's coroutines. A boost applies to a coroutine and to all coroutines inside it. As long as
 * no coroutine was ever boosted, this costs a dispatch two volatile reads.
 *
 * A thread that changes a level increments [epoch] first and then moves the queued blocks. A thread that enqueues a
 * block reads [epoch] before it reads the level, and again after it has enqueued. So at least one of the two sees the
 * other's write, and no block stays at an old level.
 */
internal class PriorityBoosts(private val root: PriorityRunQueue) : PriorityController.Follower {
    /** The limited views of [root]; null before the first one. Guarded by this object. */
    private var views: MutableSet<LockedRunQueue>? = null

    /** Null before the first boost. Written under the lock of this object. */
    @Volatile private var boosts: ConcurrentHashMap<Job, List<ActiveBoost>>? = null

    /** How often a level has changed; 0 means that no coroutine was ever boosted. Written under the same lock. */
    @Volatile
    var epoch: Int = 0
        private set

    /** Adds a view whose blocks must move when levels change. The reference is weak. */
    @Synchronized
    fun add(view: LockedRunQueue) {
        val views = views ?: Collections.newSetFromMap(WeakHashMap<LockedRunQueue, Boolean>()).also { views = it }
        views.add(view)
    }

    @Synchronized
    private fun boostsOrNew(): ConcurrentHashMap<Job, List<ActiveBoost>> =
        boosts ?: ConcurrentHashMap<Job, List<ActiveBoost>>().also { boosts = it }

    /** The more urgent of [base] and the level to which the coroutine of [context], or one around it, is boosted. */
    fun boostedLevel(context: CoroutineContext, base: Int): Int =
        if (isEmpty) base else minOf(base, context.ancestry().minOfOrNull(::boostOf) ?: base)

    /** Whether no coroutine is boosted. */
    val isEmpty: Boolean
        get() = boosts?.isEmpty() ?: true

    private fun boostOf(job: Job) = boosts?.get(job)?.minOf { it.level } ?: Int.MAX_VALUE

    /** Boosts the coroutine of [context]; [base] is its level without boosts. */
    fun boost(context: CoroutineContext, base: Int, priority: Priority): Boost {
        val job = context[Job] ?: return NO_BOOST
        val boost = ActiveBoost(job, priority.ordinal)
        boostsOrNew().merge(job, listOf(boost)) { before, more -> before + more }
        boost.removeOnCompletion()
        // A coroutine whose base level is as urgent is not queued below the boost; its children may be.
        val mayBeQueuedBelow = base > boost.level || job.children.any()
        moveAffected(below = if (mayBeQueuedBelow) boost.level else RunQueue.LEVELS.lastIndex) { job in it.ancestry() }
        return boost
    }

    override fun levelChanged(controller: PriorityController) {
        moveAffected { it[PriorityElement] === controller }
    }

    private fun moveAffected(below: Int = -1, isAffected: (CoroutineContext) -> Boolean) {
        val all =
            synchronized(this) {
                epoch++
                views.orEmpty() + root
            }
        for (queue in all) queue.moveBlocks(below, isAffected)
    }

    private inner class ActiveBoost(private val job: Job, val level: Int) : Boost {
        private lateinit var completion: DisposableHandle

        /** Removes the boost when the coroutine ends: the code that has boosted it may not call [end] then. */
        fun removeOnCompletion() {
            completion = job.invokeOnCompletion { remove() }
        }

        override fun end() {
            remove()
            completion.dispose()
        }

        private fun remove() {
            boosts?.computeIfPresent(job) { _, active -> (active - this).ifEmpty { null } }
        }
    }

    private companion object {
        val NO_BOOST = Boost {}

        /**
         * The job of the coroutine and those of the coroutines around it. `Job.parent` is an experimental API of
         * kotlinx.coroutines. Tested against kotlinx-coroutines 1.8.1, 1.10.2 and 1.11.0.
         */
        @OptIn(ExperimentalCoroutinesApi::class)
        fun CoroutineContext.ancestry(): Sequence<Job> = generateSequence(this[Job]) { it.parent }
    }
}
