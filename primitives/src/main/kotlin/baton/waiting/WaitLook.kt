@file:JvmSynthetic

package baton.waiting

/**
 * The waiters of a core, all at the same moment.
 *
 * @property waiting how many there are.
 * @property peakWaiting the most that there ever were at a time.
 * @property longest of the waits that go on, the note of the longest; null if no caller waits.
 * @property longestNanos how long that is.
 * @property names of the first waiters: of the coroutine or thread, else of the owner.
 */
internal class WaitLook(
    val waiting: Int,
    val peakWaiting: Int,
    val longest: WaitNote?,
    val longestNanos: Long,
    val names: List<String>,
    val watch: WaitWatch,
)

/** How many waiters a look names. */
internal const val NAMED_WAITERS: Int = 10

/**
 * Looks at the waiters. A wait that was not noted when it began counts from the first look that finds it. Costs a step
 * under the lock, which is O(readers): a look visits a few waiters of each queue, and tells each reader the peak.
 */
internal fun WaitCore.lookAtWaiters(): WaitLook {
    val found = ArrayList<SeenWaiter>(NAMED_WAITERS)
    val now = System.nanoTime()
    var waiting = 0
    var peak = 0
    var longest: WaitNote? = null
    val watch =
        guard.decide {
            waiting = queuedWaiters
            val watch = watch ?: WaitWatch().also { watch = it }
            peak = watch.looked(maxOf(peakWaiting, waiting))
            peakWaiting = waiting
            visitWaiters(NAMED_WAITERS) {
                val note = it.notedBy(now)
                val before = longest
                if (before == null || note.since - before.since < 0) longest = note
                if (found.size < NAMED_WAITERS) found += SeenWaiter(it, it.request, note)
            }
            watch
        }
    val nanos = longest?.let { maxOf(0, System.nanoTime() - it.since) } ?: 0
    return WaitLook(waiting, peak, longest, nanos, found.map { nameOf(it) }, watch)
}

/**
 * One wait.
 *
 * @property nanos how long it has lasted.
 * @property isExact false if it began before it was noted, so it has lasted longer.
 */
internal class SeenWait(val call: String, val caller: String, val nanos: Long, val isExact: Boolean)

/**
 * The waits of a core.
 *
 * @property waits of the first waiters of each queue, the oldest first.
 * @property waiting how many callers wait, as [lookAtWaiters] counts them.
 * @property others how many callers wait for something else: see [WaitCore.visitOthers].
 * @property otherCalls the calls of those, each once.
 */
internal class SeenWaits(val waits: List<SeenWait>, val waiting: Int, val others: Int, val otherCalls: List<String>)

/** The waits of the first [limit] waiters of each queue. */
internal fun WaitCore.waits(limit: Int): SeenWaits {
    val found = ArrayList<SeenWaiter>()
    var counted = 0
    var waiting = 0
    var others = 0
    val now = System.nanoTime()
    val visit = { waiter: Waiter ->
        found += SeenWaiter(waiter, waiter.request, waiter.notedBy(now))
        Unit
    }
    guard.decide {
        visitWaiters(limit, visit)
        counted = found.size
        waiting = queuedWaiters
        others = queuedOthers
        visitOthers(limit, visit)
    }
    val otherCalls = found.drop(counted).map { verbOf(it) }.distinct()
    found.sortBy { it.note.since - now }
    val waits = found.map { SeenWait(verbOf(it), nameOf(it), maxOf(0, now - it.note.since), it.note.isExact) }
    return SeenWaits(waits, waiting, others, otherCalls)
}

/** Its note; if there is none, a new one of a look at the time [now]. */
private fun Waiter.notedBy(now: Long): WaitNote = note ?: WaitNote(now, isExact = false).also { note = it }

/** A waiter, and what it asked for: it may serve its coroutine's next wait when its name is read. */
private class SeenWaiter(val waiter: Waiter, val request: Any?, val note: WaitNote)

/** Not under the lock: a name may come from users' code. */
private fun WaitCore.nameOf(seen: SeenWaiter): String =
    try {
        seen.waiter.nameOrNull() ?: ownerIn(seen.request)?.let(::nameOf) ?: seen.waiter.describe()
    } catch (e: Exception) {
        "a waiter whose name failed: ${e.javaClass.name}"
    }

/** Another wait may be read, of another core, if the waiter has gone on. */
private fun WaitCore.verbOf(seen: SeenWaiter): String =
    try {
        verbOf(seen.waiter)
    } catch (_: ClassCastException) {
        "wait"
    }
