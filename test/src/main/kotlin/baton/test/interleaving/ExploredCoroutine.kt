package baton.test.interleaving

import kotlinx.coroutines.Job

/**
 * A coroutine of a run: what is launched, with the blocks inside it such as `withContext`, which have Jobs of their
 * own.
 *
 * @property job null for what is dispatched without a Job.
 * @property isCancellable whether it was launched by the body or by one of its coroutines.
 */
internal class ExploredCoroutine(val name: String, val job: Job?, val isCancellable: Boolean) {
    var hasStarted: Boolean = false

    override fun toString(): String = name
}
