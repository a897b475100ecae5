package baton.scheduler.tasks

import kotlin.coroutines.CoroutineContext
import kotlinx.coroutines.CoroutineScope
import kotlinx.coroutines.Job

/**
 * The context of [scope] without its job, for tasks, which have their own: taken out once, and not for each of them.
 */
internal class JoblessScope(scope: CoroutineScope) : CoroutineScope {
    override val coroutineContext: CoroutineContext = scope.coroutineContext.minusKey(Job)
}
