package baton.monitoring.core

import baton.monitoring.Deadlock
import baton.monitoring.Monitored
import baton.monitoring.Usage
import baton.waiting.SeenWait
import baton.waiting.SeenWaits
import baton.waiting.WaitCore
import baton.waiting.WaitNote
import baton.waiting.holders.DeadlockDetection
import baton.waiting.holders.LockCore
import baton.waiting.holders.LockLook
import baton.waiting.waits
import java.time.Instant
import java.time.temporal.ChronoUnit
import kotlin.time.Duration.Companion.nanoseconds

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
        val holders: List<String>,
        val failure: Throwable?,
    ) {
        val label = "$type '$name'"
        val waits: List<SeenWait>
            get() = seen.waits

        val longest = waits.firstOrNull()?.nanos ?: -1
        val unseen = seen.waiting + seen.others - waits.size
        val isAwaited = seen.waiting + seen.others > 0
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
                core?.waits(WAITERS) ?: SeenWaits(emptyList(), usage.waiting, others = 0, emptyList()),
                holders.map { it.caller.describe() + whereTaken(it.caller.reportedSite()) },
                failure = null,
            )
        } catch (e: Exception) {
            Seen(type, name, usage = null, SeenWaits(emptyList(), 0, 0, emptyList()), emptyList(), e)
        }
    }

    fun text(): String = buildString {
        val waiting = objects.count { it.isAwaited }
        append("Waits at $at: ${objects.size} objects with a name, callers wait for $waiting\n")
        for (seen in objects) {
            append('\n').append(seen.label).append(": ")
            val usage = seen.usage
            if (usage == null) append("failed: ${seen.failure}")
            else append("${usage.inUse} of ${usage.capacity} in use, ${seen.seen.waiting} waiting")
            if (seen.seen.others > 0) append(", ${seen.seen.others} in ${seen.seen.otherCalls.joinToString(" or ")}")
            append('\n')
            for (wait in seen.waits) {
                val atLeast = if (wait.isExact) "" else "at least "
                append("  ${wait.call} by ${wait.caller} for $atLeast${millisOf(wait).nanoseconds}\n")
            }
            if (seen.unseen > 0) append("  and ${seen.unseen} more\n")
            for (holder in seen.holders) append("  held by $holder\n")
        }
        for (deadlock in deadlocks) append('\n').append(deadlock).append('\n')
    }

    /** Whole milliseconds are enough for people. */
    private fun millisOf(wait: SeenWait) = wait.nanos / NANOS_PER_MILLI * NANOS_PER_MILLI

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
                        texts("holders", seen.holders)
                    }
                    texts("deadlocks", deadlocks.map { it.toString() })
                }
            }
            .toString()

    companion object {
        /** Of each queue. */
        private const val WAITERS = 100
        private const val NANOS_PER_MILLI = 1_000_000

        /** All waits from here on are noted, those of objects without a monitor, too. */
        fun begin() {
            WaitNote.areTaken = true
        }
    }
}
