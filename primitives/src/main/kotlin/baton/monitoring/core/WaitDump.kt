package baton.monitoring.core

import baton.monitoring.Deadlock
import baton.monitoring.Monitored
import baton.monitoring.Usage
import baton.waiting.SeenWait
import baton.waiting.SeenWaits
import baton.waiting.WaitCore
import baton.waiting.WaitNote
import baton.waiting.holders.DeadlockDetection
import baton.waiting.holders.Holder
import baton.waiting.holders.LockCore
import baton.waiting.holders.LockLook
import baton.waiting.waits
import java.time.Instant
import java.time.temporal.ChronoUnit
import kotlin.time.Duration.Companion.ZERO

/** One look at all objects with a name, those with the longest waits first. */
internal class WaitDump(private val deadlocks: List<Deadlock>) {
    private val at = Instant.now().truncatedTo(ChronoUnit.MILLIS)
    private val objects: List<Seen>

    init {
        val seen = ArrayList<Seen>()
        NamedObjects.forEach { source, core -> seen += look(source, core) }
        objects = seen.sortedWith(compareByDescending<Seen> { it.longest }.thenBy { it.label })
    }

    /** @property failure what the look at it threw, if it did; there is no usage then. */
    private class Seen(
        val type: String,
        val name: String,
        val usage: Usage?,
        val seen: SeenWaits,
        val holders: List<Holder>,
        val failure: Throwable?,
    ) {
        val label = "$type '$name'"
        val waits: List<SeenWait>
            get() = seen.waits

        val longest = waits.firstOrNull()?.nanos ?: usage?.longestWait?.inWholeNanoseconds ?: -1
        val unseen = seen.waiting + seen.others - waits.size
        val isAwaited = seen.waiting + seen.others > 0
        val isIdle = usage?.inUse == 0L && !isAwaited
        val holds = holders.take(NAMED).map(::SeenHold)
    }

    private class SeenHold(holder: Holder) {
        val caller = holder.describe()
        val time = holder.heldFor()
        val site = whereTaken(holder.reportedSite())
    }

    private fun look(source: Monitored, core: WaitCore?): Seen {
        val type = source.javaClass.simpleName
        val name = source.name.orEmpty()
        return try {
            val holders = if (core is LockCore && DeadlockDetection.isOn) LockLook(core).holds else emptyList()
            val usage = source.usage()
            Seen(
                type,
                name,
                usage,
                core?.waits(NAMED) ?: SeenWaits(emptyList(), usage.waiting, others = 0, emptyList()),
                holders.map { it.caller },
                failure = null,
            )
        } catch (e: Exception) {
            Seen(type, name, usage = null, SeenWaits(emptyList(), 0, 0, emptyList()), emptyList(), e)
        }
    }

    fun text(): String = buildString {
        val waiting = objects.count { it.isAwaited }
        val (idle, others) = objects.partition { it.isIdle }
        append("Waits at $at: ${objects.size} objects with a name, ${idle.size} idle, callers wait for $waiting\n")
        for (seen in others) {
            append('\n').append(seen.label).append(": ")
            val usage = seen.usage
            if (usage == null) append("failed: ${seen.failure}")
            else append("${usage.inUse} of ${usage.capacity} in use${byOf(seen)}, ${seen.seen.waiting} waiting")
            if (seen.seen.others > 0) append(", ${seen.seen.others} in ${seen.seen.otherCalls.joinToString(" or ")}")
            append('\n')
            for (wait in seen.waits) {
                val atLeast = if (wait.isExact) "" else "at least "
                append("  ${wait.call} by ${wait.caller} for $atLeast${forPeople(wait.nanos)}\n")
            }
            if (usage != null && seen.waits.isEmpty()) appendSummary(usage)
            else if (seen.unseen > 0) append("  and ${seen.unseen} more\n")
            for (hold in seen.holds) {
                append("  held by ${hold.caller}${hold.time?.let { " for $it" }.orEmpty()}${hold.site}\n")
            }
            val others = seen.holders.size - seen.holds.size
            if (others > 0) append("  and $others more hold it\n")
        }
        for (deadlock in deadlocks) append('\n').append(deadlock).append('\n')
    }

    /** Several readers have the one place of a lock. */
    private fun byOf(seen: Seen) = if (seen.holders.size < 2) "" else " by ${seen.holders.size} holders"

    /** Of a source with a queue of its own, such as a scheduler. */
    private fun StringBuilder.appendSummary(usage: Usage) {
        val more = usage.waiting - usage.waiters.size
        if (usage.waiters.isNotEmpty()) {
            append("  waiting: ${usage.waiters.joinToString()}${if (more > 0) " and $more more" else ""}")
            append(", the longest for ${forPeople(usage.longestWait.inWholeNanoseconds)}\n")
        }
        if (usage.longestRun > ZERO) {
            append("  running: the oldest for ${forPeople(usage.longestRun.inWholeNanoseconds)}\n")
        }
    }

    fun json(): String =
        JsonText()
            .apply {
                inObject {
                    text("at", at.toString())
                    each("objects", objects) { seen ->
                        text("type", seen.type)
                        text("name", seen.name)
                        seen.failure?.let { text("failure", it.toString()) }
                        seen.usage?.let {
                            number("inUse", it.inUse)
                            number("capacity", it.capacity)
                            number("waiting", seen.seen.waiting.toLong())
                            number("others", seen.seen.others.toLong())
                        }
                        each("waits", seen.waits) { wait ->
                            text("call", wait.call)
                            text("caller", wait.caller)
                            number("millis", wait.nanos / NANOS_PER_MILLI)
                            flag("atLeast", !wait.isExact)
                        }
                        texts("holders", seen.holds.map { it.caller + it.site })
                        each("holds", seen.holds) { hold ->
                            text("caller", hold.caller)
                            hold.time?.let { number("millis", it.inWholeMilliseconds) }
                        }
                    }
                    texts("deadlocks", deadlocks.map { it.toString() })
                }
            }
            .toString()

    companion object {
        /** Of each queue, and of the holders of each lock. */
        private const val NAMED = 100
        private const val NANOS_PER_MILLI = 1_000_000

        /** All waits from here on are noted, those of objects without a monitor, too. */
        fun begin() {
            WaitNote.areTaken = true
        }
    }
}
