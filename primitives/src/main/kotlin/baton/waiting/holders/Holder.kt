package baton.waiting.holders

import baton.Boosting
import baton.Priority
import baton.waiting.KnownCaller
import baton.waiting.Parking
import baton.waiting.nameOf
import baton.waiting.threads.Trampoline
import kotlin.coroutines.CoroutineContext
import kotlinx.coroutines.CoroutineName
import kotlinx.coroutines.Job

/**
 * The caller of a lock, while it waits and then while it holds the lock. Each call has its own, so that it stands for
 * one wait or one hold. It is created without a lock, because it has a stack trace and calls foreign code.
 *
 * @property owner for which it locks, or the thread that blocks; null if it is known by its [job] alone.
 * @property boosting the dispatcher that can boost its coroutine; null if there is none.
 * @property isToken whether its unlock names it.
 * @property isAnonymous whether it reads, and its unlock names neither it nor an owner.
 * @property takenAt the call; null where deadlocks are not looked for.
 */
internal class Holder(
    private val context: CoroutineContext?,
    val owner: Any?,
    private val boosting: Boosting? = null,
    val isToken: Boolean = false,
    var isAnonymous: Boolean = false,
    val takenAt: Throwable? = callSite(),
) : KnownCaller() {
    /** Of its coroutine; null if it has none. */
    val job: Job? = context?.get(Job)

    val name: String?
        get() = context?.get(CoroutineName)?.name

    /** The level at which it waits; [NO_LEVEL] if its wait boosts no holder. */
    var urgency: Int = NO_LEVEL

    // A member of a ring of [Holders], whose comment says what guards the following.

    var previous: Holder = this
    var next: Holder = this

    /** Whether it holds the lock. */
    var isIn = false

    /** When that began, in [System.nanoTime]; null if it was not noted. */
    val heldSince: Long?
        get() = if (isHoldNoted) beginOfHold else null

    private var isHoldNoted = false
    private var beginOfHold = 0L

    /** Allocates nothing. */
    fun noteHold() {
        if (takenAt == null) return
        beginOfHold = System.nanoTime()
        isHoldNoted = true
    }

    /** The level of its boost; [NO_LEVEL] if it has none. */
    var level: Int = NO_LEVEL
        private set

    private var boost: Boosting.Boost? = null

    /** An anonymous one is not boosted, because the lock cannot know when its hold ends. */
    val canBeBoosted: Boolean
        get() = boosting != null && !isAnonymous

    /** Leaves its ring, if it is in one. */
    fun unlink() {
        previous.next = next
        next.previous = previous
        previous = this
        next = this
    }

    /**
     * Begins the new boost before it ends the old one, so that the level never falls below both. Foreign code: no lock.
     */
    fun boost(to: Int) {
        val before = boost
        boost = null
        level = to
        try {
            if (to != NO_LEVEL && boosting != null && context != null) {
                boost = boosting.boost(context, Priority.entries[to])
            }
        } catch (e: Throwable) {
            Trampoline.report(e)
        }
        Trampoline.guarded { before?.end() }
    }

    /** The text for a report. Calls users' code. */
    fun describe(): String {
        val owner = owner
        return when {
            job == null && name == null && owner is Thread -> "thread '${Parking.nameOf(owner)}'"
            job == null && name == null -> "owner ${owner?.let(::nameOf)}"
            owner == null -> coroutine()
            else -> "${coroutine()} (owner ${nameOf(owner)})"
        }
    }

    fun coroutine(): String = if (name == null) "coroutine $job" else "coroutine '$name'"

    companion object {
        const val NO_LEVEL = -1
    }
}

private fun callSite(): Throwable? = if (DeadlockDetection.isOn) CallSite() else null

/** The place of a call. It is never thrown. */
internal class CallSite : Throwable("taken here", null, false, true) {
    /** Whether a report has put the lines of calls in place of those of inlined functions. */
    @JvmField var hasLinesOfCalls: Boolean = false
}
