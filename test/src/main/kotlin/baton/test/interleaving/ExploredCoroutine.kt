package baton.test.interleaving

import baton.waiting.Waiter
import kotlin.coroutines.jvm.internal.CoroutineStackFrame
import kotlinx.coroutines.Job

/**
 * A coroutine of a run: what is launched, with the blocks inside it such as `withContext`, which have Jobs of their
 * own.
 *
 * @property job null for what is dispatched without a Job.
 * @property isLaunched whether it was launched by the body or by one of its coroutines.
 */
internal class ExploredCoroutine(val name: String, val job: Job?, val isLaunched: Boolean) {
    var hasStarted: Boolean = false

    /** Where it went on last. */
    var frame: CoroutineStackFrame? = null

    /** The latest call of a primitive that may suspend. */
    var call: Waiter? = null

    val isActive: Boolean
        get() = job?.isCompleted == false

    override fun toString(): String = name
}
