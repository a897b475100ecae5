package baton.monitoring.core

import baton.monitoring.Alert
import baton.monitoring.AlertRules
import baton.monitoring.Monitored
import baton.monitoring.Usage
import baton.waiting.PeakReader
import baton.waiting.WaitNote
import baton.waiting.WaitWatch
import baton.waiting.threads.TinyLock
import java.lang.ref.WeakReference
import java.util.Collections
import java.util.EnumMap
import java.util.WeakHashMap
import kotlin.time.Duration
import kotlin.time.DurationUnit

/**
 * One source that a monitor watches.
 *
 * @property type the class of the source, for what shows it.
 * @property monitored the source, unless it is a function.
 * @property source returns the usage; null once the source is not in memory any more.
 */
internal class Watch(
    val name: String,
    val type: String,
    private val ownRules: AlertRules?,
    private val onClose: (Watch) -> Unit,
    private val clock: LookClock,
    private val monitored: WeakReference<Monitored>?,
    private val source: () -> Usage?,
) : TinyLock(), AutoCloseable {
    // Written by the monitor's coroutine alone.
    private val states = EnumMap<Alert.Kind, AlertState>(Alert.Kind::class.java)
    @Volatile private var raisedNow: List<Alert> = emptyList()
    @Volatile private var longest: SeenWait? = null
    private var hasFailed = false

    private val peakOfLooks = PeakReader()
    private val peakOfSnapshots = PeakReader()
    private val peaks = listOf(peakOfLooks, peakOfSnapshots)

    /**
     * The watches that it has read: one, unless a function returns usages of several objects, which may take turns.
     * Guarded by the lock.
     */
    private val watched: MutableSet<WaitWatch> = Collections.newSetFromMap(WeakHashMap(1))
    @Volatile private var isClosed = false

    /** The alerts that are raised. */
    val raised: List<Alert>
        get() = raisedNow

    /** The notes of the source's waits, and its peaks, begin now. Throws what the source throws. */
    fun begin() {
        source()?.watch?.let { locked { readFrom(it) } }
    }

    /** Reads the source; null once that is gone. The peaks stay. Throws what the source throws. */
    fun read(): Usage? {
        val usage = source() ?: return null
        locked {
            val watch = usage.watch
            // Of an object that a function returns for the first time, no peak has been read.
            if (watch == null || readFrom(watch)) peaks.forEach { it.add(usage.peakWaiting) }
        }
        return usage
    }

    /** The peaks of [watch] count from here on. False if they do already, or this is closed. Under the lock. */
    private fun readFrom(watch: WaitWatch): Boolean {
        if (isClosed || watch in watched) return false
        peaks.forEach(watch::add)
        return watched.add(watch)
    }

    /** As [read], with the peak since the last snapshot. */
    fun snapshot(): Usage? {
        val usage = read() ?: return null
        return usage.with(longestWaitOf(usage), peakOfSnapshots.take(usage.waiting))
    }

    /** One look of the monitor's coroutine. False once the source is gone. */
    fun look(rules: AlertRules, listener: MonitorListener, onFailure: (Throwable) -> Unit): Boolean {
        val seen =
            try {
                read() ?: return false
            } catch (e: Throwable) {
                // Once, until it succeeds again.
                if (!hasFailed) onFailure(e)
                hasFailed = true
                states.values.forEach { it.interrupt() }
                return true
            }
        if (isClosed) return true
        hasFailed = false
        follow(seen.longest)
        val usage = seen.with(longestWaitOf(seen), peakOfLooks.take(seen.waiting))
        listener.looked(name, type, monitored?.get(), usage)
        judge(usage, ownRules ?: rules, listener)
        return true
    }

    private fun judge(usage: Usage, rules: AlertRules, listener: MonitorListener) {
        val own = usage.bounds
        val bounds = if (own == null || (ownRules != null && own.kind == Alert.Kind.UTILISATION)) rules.bounds else own
        val changes = ArrayList<Alert>(0)
        for ((kind, state) in states) {
            if (kind == bounds.kind || kind in TIMES) continue
            // The source says no more that this is so.
            state.look(kind, name, 0.0, raiseAt = 1.0, clearBelow = 1.0, rules.after, usage)?.let(changes::add)
        }
        state(bounds.kind)
            .look(bounds.kind, name, usage.share, bounds.raiseAt, bounds.clearBelow, rules.after, usage)
            ?.let(changes::add)
        judge(Alert.Kind.LONGEST_WAIT, usage.longestWait, rules.longestWait, rules, usage)?.let(changes::add)
        judge(Alert.Kind.LONGEST_RUN, usage.longestRun, rules.longestRun, rules, usage)?.let(changes::add)
        if (changes.isEmpty()) return
        raisedNow = states.values.mapNotNull { it.raised }
        changes.forEach(listener::alerted)
    }

    private fun judge(kind: Alert.Kind, time: Duration, most: Duration, rules: AlertRules, usage: Usage): Alert? {
        val bound = most.toDouble(DurationUnit.SECONDS)
        return state(kind).look(kind, name, time.toDouble(DurationUnit.SECONDS), bound, bound, rules.after, usage)
    }

    private fun state(kind: Alert.Kind) = states.getOrPut(kind) { AlertState(clock) }

    /** Remembers since which look [note] is that of the longest wait. */
    private fun follow(note: WaitNote?) {
        if (longest?.note !== note) longest = note?.let { SeenWait(it, clock.now) }
    }

    /** A wait is noted in the system's time. In virtual time, it counts from the first look that saw it. */
    private fun longestWaitOf(usage: Usage): Duration {
        val seen = longest
        if (!clock.isVirtual || seen == null || seen.note !== usage.longest) return usage.longestWait
        return maxOf(usage.longestWait, clock.since(seen.moment))
    }

    private class SeenWait(val note: WaitNote, val moment: Long)

    override fun close() {
        onClose(this)
        release()
    }

    /** The source needs no notes any more. */
    fun release() {
        locked {
            isClosed = true
            for (watch in watched) peaks.forEach(watch::remove)
            watched.clear()
        }
    }

    companion object {
        /** The kinds about a time. */
        private val TIMES = setOf(Alert.Kind.LONGEST_WAIT, Alert.Kind.LONGEST_RUN)
    }
}
