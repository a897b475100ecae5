@file:JvmSynthetic

package baton.waiting

import kotlin.coroutines.CoroutineContext
import kotlin.coroutines.coroutineContext
import kotlinx.coroutines.CoroutineName
import kotlinx.coroutines.Job

/**
 * The caller of a lock: the note of its wait, and then that of its hold, where [DeadlockDetection] is on. Each call has
 * its own, so that a note stands for one wait or one hold. Created without a lock, because it has a stack trace.
 *
 * @property job of its coroutine; null if it has none.
 * @property owner for which it locks, or the thread that blocks; null if it is known by its [job] alone.
 * @property isNamedAtUnlock whether its unlock names this note.
 * @property takenAt the call.
 */
internal class NotedCaller(
    val job: Job?,
    val name: String?,
    val owner: Any?,
    val isNamedAtUnlock: Boolean = false,
    val takenAt: Throwable = CallSite(),
    since: Long = System.nanoTime(),
) : WaitNote(since) {
    /** The same caller, whose wait begins now. */
    fun waitingAnew(): NotedCaller = NotedCaller(job, name, owner, isNamedAtUnlock, takenAt)

    /** The text for a report. Calls users' code. */
    fun describe(): String {
        val owner = owner
        return when {
            job == null && name == null && owner is Thread -> "thread '${owner.name}'"
            job == null && name == null -> "owner ${owner?.let(::nameOf)}"
            owner == null -> coroutine()
            else -> "${coroutine()} (owner ${nameOf(owner)})"
        }
    }

    fun coroutine(): String = if (name == null) "coroutine $job" else "coroutine '$name'"
}

/** The place of a call. It is never thrown. */
internal class CallSite : Throwable("taken here", null, false, true)

internal fun callerOf(context: CoroutineContext?, owner: Any?, isNamedAtUnlock: Boolean = false): NotedCaller =
    NotedCaller(context?.get(Job), context?.get(CoroutineName)?.name, owner, isNamedAtUnlock)

/** The calling coroutine, where callers are noted; else null. */
internal suspend inline fun currentCaller(owner: Any?): NotedCaller? =
    if (DeadlockDetection.isOn) callerOf(coroutineContext, owner) else null

/** As [currentCaller], of a call that does not suspend: it is known by its [owner] alone. */
internal fun callerByOwner(owner: Any?): NotedCaller? =
    if (DeadlockDetection.isOn && owner != null) callerOf(null, owner) else null

/** The note of a waiter that is queued or was just granted. As [Waiter.note]. */
internal val Waiter.caller: NotedCaller?
    get() = if (DeadlockDetection.isOn) outcome as? NotedCaller else null
