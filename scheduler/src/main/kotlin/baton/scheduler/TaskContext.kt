package baton.scheduler

import baton.PriorityController
import baton.PriorityElement
import kotlin.coroutines.CoroutineContext
import kotlin.coroutines.CoroutineContext.Element
import kotlin.coroutines.CoroutineContext.Key
import kotlin.coroutines.EmptyCoroutineContext
import kotlinx.coroutines.CoroutineScope
import kotlinx.coroutines.ExperimentalCoroutinesApi
import kotlinx.coroutines.Job
import kotlinx.coroutines.ThreadContextElement
import kotlinx.coroutines.newCoroutineContext

/** Makes the contexts in which the tasks of [scope] run, before each of them adds its job. */
@OptIn(ExperimentalCoroutinesApi::class)
internal class TaskContexts(private val scope: CoroutineScope) {
    /** What all tasks have in common; null if kotlinx has to make each one's, for what is copied or numbered. */
    private val common: CoroutineContext? =
        scope.newCoroutineContext(EmptyCoroutineContext).minusKey(Job).minusKey(PriorityElement).takeUnless { context ->
            context.fold(false) { found, element -> found || element is ThreadContextElement<*> }
        }

    fun of(controller: PriorityController): CoroutineContext =
        if (common == null) scope.newCoroutineContext(controller) else TaskContext(common, controller)
}

/**
 * What [common] says, [controller] and the task's job, in one object: put together with `+` it would be three, and a
 * walk through their elements for each task.
 */
internal class TaskContext(private val common: CoroutineContext, private val controller: PriorityController) :
    CoroutineContext {
    private var job: Job? = null

    override fun <E : Element> get(key: Key<E>): E? = job?.get(key) ?: controller[key] ?: common[key]

    override fun <R> fold(initial: R, operation: (R, Element) -> R): R {
        val folded = operation(common.fold(initial, operation), controller)
        val job = job ?: return folded
        return operation(folded, job)
    }

    /** The job, which adds itself while nobody else has seen this, becomes a part of it. */
    override fun plus(context: CoroutineContext): CoroutineContext {
        if (job != null || context !is Job) return plain() + context
        job = context
        return this
    }

    override fun minusKey(key: Key<*>): CoroutineContext = if (get(key) == null) this else plain().minusKey(key)

    private fun plain(): CoroutineContext {
        val plain = common + controller
        val job = job ?: return plain
        return plain + job
    }

    override fun toString(): String = plain().toString()
}
