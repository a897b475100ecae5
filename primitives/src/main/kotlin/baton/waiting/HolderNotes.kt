@file:JvmSynthetic

package baton.waiting

import java.util.concurrent.atomic.AtomicBoolean

/**
 * The holders of a lock, where [DeadlockDetection] is on. Guarded by the lock of the core.
 *
 * (1) A note is written in the decision that grants the lock (for readers admitted together: before they are woken),
 * and removed in the one that ends the hold. So a lock with a noted holder has no fast path. (2) Every note is of a
 * caller that holds. A holder may lack a note: one without a coroutine and without an owner, and readers whose notes
 * were forgotten (3). (3) An unlock that does not name its reader ends the hold of any of them. If their notes are not
 * all of one coroutine, or one of them has no note, it is unknown whose hold has ended: their notes are forgotten.
 *
 * It is the [WaitWatch] of its core, so that no core has a field for it.
 */
internal class HolderNotes : WaitWatch() {
    private val isAdded = AtomicBoolean()

    /** The holder of a lock that has at most one, or of its exclusive part. */
    var sole: NotedCaller? = null

    val readers = ArrayList<NotedCaller>(0)

    val isEmpty: Boolean
        get() = sole == null && readers.isEmpty()

    /** [core] has this; not under its lock. */
    fun addOnce(core: WaitCore) {
        if (!isAdded.get() && isAdded.compareAndSet(false, true)) DeadlockDetection.add(core)
    }

    /**
     * A reader has unlocked: the one of [caller], if it was noted, else one of [owner].
     *
     * @param unowned how many readers without an owner there were.
     */
    fun removeReader(owner: Any?, caller: NotedCaller?, unowned: Int) {
        when {
            caller != null -> removeLast { it === caller }
            owner != null -> removeLast { it.owner === owner }
            else -> removeUnnamed(unowned)
        }
    }

    private inline fun removeLast(isIt: (NotedCaller) -> Boolean) {
        val place = readers.indexOfLast(isIt)
        if (place >= 0) readers.removeAt(place)
    }

    private fun removeUnnamed(count: Int) {
        val named = readers.count { it.owner == null && it.isNamedAtUnlock }
        val unnamed = readers.filter { it.owner == null && !it.isNamedAtUnlock }
        val first = unnamed.firstOrNull() ?: return
        if (unnamed.size == count - named && unnamed.all { it.job != null && it.job === first.job }) {
            removeLast { it === unnamed.last() }
        } else {
            readers.removeAll { it.owner == null && !it.isNamedAtUnlock }
        }
    }
}

/** The notes, where there are some. */
internal val WaitCore.holderNotes: HolderNotes?
    get() = if (DeadlockDetection.isOn) watch as HolderNotes? else null

// Called by the cores, under the lock.

/** Whether a holder is noted here or recorded to be boosted, so that its unlock must take the lock. */
internal fun WaitCore.hasKnownHolder(): Boolean =
    inheritance?.hasHolder == true || (DeadlockDetection.isOn && holderNotes?.isEmpty == false)

/** [caller] is the sole holder now; null if it is unknown, or if no caller holds. */
internal fun WaitCore.noteSole(caller: NotedCaller?) {
    if (!DeadlockDetection.isOn || (caller == null && watch == null)) return
    (watchOrNew() as HolderNotes).sole = caller
}

internal fun WaitCore.noteReader(caller: NotedCaller?) {
    if (caller != null) (watchOrNew() as HolderNotes).readers.add(caller)
}

/** For the watchers of the waits. */
internal fun WaitCore.watchOrNew(): WaitWatch =
    watch ?: (if (DeadlockDetection.isOn) HolderNotes() else WaitWatch()).also { watch = it }

// Called by the waiting thread, without the lock.

/** Notes the caller behind [waiter], which is about to wait for a lock. */
internal fun WaitCore.noteCaller(waiter: Waiter, caller: NotedCaller? = null) {
    val owner = if (waiter is ThreadWaiter) Thread.currentThread() else ownerIn(waiter.request)
    waiter.outcome = caller ?: callerOf(waiter.coroutine, owner)
    val notes = holderNotes ?: decide { watchOrNew() } as HolderNotes
    notes.addOnce(this)
}
