@file:JvmSynthetic

package baton.waiting.holders

import baton.priority
import baton.waiting.ThreadWaiter
import baton.waiting.WaitCore
import baton.waiting.WaitNote
import baton.waiting.Waiter
import kotlin.coroutines.CoroutineContext
import kotlin.coroutines.coroutineContext
import kotlin.time.Duration

// Called by the thread that asks for a lock, without the lock. A core gets the caller as `by`, its next
// holder; null if the core is not to record that.

/** The calling coroutine, if this lock is to know it as its holder; else null. */
internal suspend inline fun WaitCore.callerFor(owner: Any?): Holder? {
    requireOwner(owner)
    return if (KnownCallers.areWanted) callerOf(coroutineContext, owner) else null
}

/** Refuses a timeout that was given where the parameter is the owner, as in `lock(50.milliseconds)`. */
internal fun requireOwner(owner: Any?) {
    require(owner !is Duration) { "owner = $owner, must not be a Duration, which has no identity: is it a timeout?" }
}

/** As [callerFor], of a caller in this [context]. */
internal fun WaitCore.callerOf(
    context: CoroutineContext?,
    owner: Any?,
    isToken: Boolean = false,
    isAnonymous: Boolean = false,
): Holder? {
    val boosting = if (isAnonymous) null else Boosts.boostingOf(context)
    if (boosting == null && !DeadlockDetection.isOn) return null
    prepareHolders()
    return Holder(context, owner, boosting, isToken, isAnonymous)
}

/** As [callerFor], of a call that does not suspend: it is known by its [owner] alone. */
internal fun WaitCore.callerByOwner(owner: Any?): Holder? =
    if (owner != null && DeadlockDetection.isOn) callerOf(context = null, owner) else null

/**
 * Makes the caller of [waiter], which is about to wait for a lock, known to this core, and notes its wait.
 *
 * @param isAnonymous as [Holder.isAnonymous].
 */
internal fun WaitCore.makeKnown(waiter: Waiter, isAnonymous: Boolean = false) {
    if (KnownCallers.areWanted) makeCallerKnown(waiter, isAnonymous)
    noteWait(waiter)
}

private fun WaitCore.makeCallerKnown(waiter: Waiter, isAnonymous: Boolean) {
    val context = waiter.coroutine
    val boosting = Boosts.boostingOf(context)
    val level =
        when {
            context == null || !Boosts.inUse -> null
            boosting == null -> context.priority
            else -> boosting.levelOf(context)
        }
    if (level == null && !DeadlockDetection.isOn) return
    val holders = prepareHolders()
    val owner = if (waiter is ThreadWaiter) Thread.currentThread() else ownerIn(waiter.request)
    val caller = waiter.holder ?: Holder(context, owner, boosting, isAnonymous = isAnonymous)
    if (level != null) caller.urgency = level.ordinal
    waiter.outcome = caller
    if (!DeadlockDetection.isOn) return
    caller.wait = WaitNote(System.nanoTime())
    if (decide { holders.markListed() }) DeadlockDetection.add(this)
}

/** The caller of this waiter, which is queued or was just granted; null if it is not known. */
internal val Waiter.holder: Holder?
    get() = outcome as? Holder

/** As [holder], if it is to be recorded when it holds the lock; null if it is known for its level alone. */
internal val Waiter.by: Holder?
    get() = holder?.takeIf { it.canBeBoosted || DeadlockDetection.isOn }
