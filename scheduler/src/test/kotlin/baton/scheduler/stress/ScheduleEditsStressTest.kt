package baton.scheduler.stress

import baton.BatonClock
import baton.Priority
import baton.lincheck.world.Effort
import baton.scheduler.RunOutcome
import baton.scheduler.ScheduleConfig
import baton.scheduler.Trigger
import baton.scheduler.schedule.EntryTable
import baton.scheduler.schedule.FireCore
import baton.scheduler.schedule.Firing
import baton.scheduler.schedule.ScheduleCore
import java.time.Instant
import kotlinx.coroutines.Job
import org.jetbrains.lincheck.datastructures.IntGen
import org.jetbrains.lincheck.datastructures.Operation
import org.jetbrains.lincheck.datastructures.Param
import org.junit.jupiter.api.Test

/**
 * Edits by several threads, while the loop fires and the actions begin and end. The clock stands still. The threads are
 * real ones: Lincheck cannot rewrite the monitor in the inlined steps of the table, so it cannot choose interleavings.
 */
@Param(name = "key", gen = IntGen::class, conf = "0:1")
open class ScheduleEditsStressTest {
    /** Of each scenario. */
    protected open val runs
        get() = 200

    private val config = ScheduleConfig(clock = BatonClock.of { Instant.EPOCH })
    private val table = EntryTable<Int>(1).also { it.isLoaded = true }
    private val core = ScheduleCore(config, table, "test")
    private val fires = FireCore(config, table).also { it.startedAt = 0 }
    private val once = Trigger.at(Instant.EPOCH)

    /** Guards the rest, because the schedule has one loop; and actions are steps of one order here. */
    private val loop = Any()
    private val handedOver = ArrayDeque<Firing<Int>>()
    private val running = ArrayDeque<Firing<Int>>()

    @Operation fun put(@Param(name = "key") key: Int) = core.put(key, once, Priority.NORMAL)

    @Operation fun remove(@Param(name = "key") key: Int) = core.remove(key)

    @Operation fun pause(@Param(name = "key") key: Int) = core.pause(key)

    @Operation fun resume(@Param(name = "key") key: Int) = core.resume(key)

    @Operation fun triggerNow(@Param(name = "key") key: Int) = core.triggerNow(key)

    @Operation fun size() = core.size

    @Operation
    fun fireDue(): Int =
        synchronized(loop) {
            while (fires.peek(now = 0)) {
                val skipped = skipped()
                val firing = fires.fire(now = 0) { _, _ -> }
                if (firing != null) return handOver(firing)
                if (skipped() > skipped) return ScheduleEditsSequential.SKIPPED
            }
            ScheduleEditsSequential.NONE
        }

    private fun skipped() = fires.counts { counts, _ -> counts.skipped }

    @Operation
    fun fireTriggered(): Int =
        synchronized(loop) { fires.takeTriggered(now = 0)?.let(::handOver) ?: ScheduleEditsSequential.NONE }

    private fun handOver(firing: Firing<Int>): Int {
        handedOver += firing
        return firing.key
    }

    @Operation
    fun begin(): Int =
        synchronized(loop) {
            val firing = handedOver.removeFirstOrNull() ?: return ScheduleEditsSequential.NONE
            if (fires.begin(firing, now = 0, Job()) == null) {
                check(fires.end(firing, RunOutcome.SUCCEEDED, now = 0) == null)
                return ScheduleEditsSequential.REVOKED
            }
            running += firing
            firing.key
        }

    @Operation
    fun end(): Int =
        synchronized(loop) {
            val firing = running.removeFirstOrNull() ?: return ScheduleEditsSequential.NONE
            fires.end(firing, RunOutcome.SUCCEEDED, now = 0)?.let(::handOver) ?: ScheduleEditsSequential.NONE
        }

    @Test
    fun threads_areLinearizable() {
        Effort.stress(ScheduleEditsSequential::class.java, emptyList(), scenarios = 30, runs).check(javaClass)
    }
}

class ScheduleEditsStressDeepTest : ScheduleEditsStressTest() {
    override val runs
        get() = Effort.DEEP_RUNS
}

/** Entries that are due once, at once. */
class ScheduleEditsSequential {
    private class Run(val key: Int) {
        var isRevoked = false
        var hasBegun = false
    }

    /** All that is known of a key, also after its removal. */
    private class Entry {
        var isLive = false
        var isPaused = false
        var isEnding = false
        val queued = ArrayList<Run>()
        var running = 0
        var waiting: Run? = null
        var last: Run? = null

        val runs
            get() = queued.size + running

        fun revoke() {
            for (run in queued) run.isRevoked = true
            queued.clear()
            waiting = null
        }
    }

    private val entries = List(2) { Entry() }

    /** In the order in which they became so. */
    private val due = ArrayList<Int>()
    private val triggered = ArrayList<Int>()
    private val handedOver = ArrayDeque<Run>()
    private val running = ArrayDeque<Run>()

    fun put(key: Int) {
        val entry = entries[key]
        entry.isLive = true
        entry.isPaused = false
        entry.isEnding = false
        entry.waiting = null
        triggered -= key
        makeDue(key)
    }

    private fun makeDue(key: Int) {
        due -= key
        due += key
    }

    fun remove(key: Int): Boolean {
        val wasLive = entries[key].isLive
        if (wasLive) {
            entries[key].revoke()
            drop(key)
        }
        return wasLive
    }

    private fun drop(key: Int) {
        entries[key].isLive = false
        due -= key
        triggered -= key
    }

    fun pause(key: Int): Boolean {
        val entry = entries[key]
        if (!entry.isLive) return false
        entry.isPaused = true
        due -= key
        triggered -= key
        entry.revoke()
        if (entry.runs == 0 || entry.last?.hasBegun == false) entry.isEnding = false
        return true
    }

    fun resume(key: Int): Boolean {
        val entry = entries[key]
        if (entry.isLive && entry.isPaused) {
            entry.isPaused = false
            if (!entry.isEnding) makeDue(key)
        }
        return entry.isLive
    }

    fun triggerNow(key: Int): Boolean {
        if (entries[key].isLive && key !in triggered) triggered += key
        return entries[key].isLive
    }

    fun size() = entries.count { it.isLive }

    fun fireDue(): Int {
        val key = due.removeFirstOrNull() ?: return NONE
        val entry = entries[key]
        entry.isEnding = true
        entry.last = entry.waiting
        if (entry.runs > 0) return SKIPPED
        return handOver(Run(key).also { entry.last = it })
    }

    fun fireTriggered(): Int {
        while (true) {
            val key = triggered.removeLastOrNull() ?: return NONE
            val entry = entries[key]
            if (entry.runs == 0) return handOver(Run(key))
            if (entry.waiting == null) entry.waiting = Run(key)
        }
    }

    private fun handOver(run: Run): Int {
        handedOver += run
        entries[run.key].queued += run
        return run.key
    }

    fun begin(): Int {
        val run = handedOver.removeFirstOrNull() ?: return NONE
        if (run.isRevoked) return REVOKED
        run.hasBegun = true
        running += run
        entries[run.key].queued -= run
        entries[run.key].running++
        return run.key
    }

    fun end(): Int {
        val run = running.removeFirstOrNull() ?: return NONE
        val entry = entries[run.key]
        entry.running--
        val next = entry.waiting
        if (entry.isLive && next != null) {
            entry.waiting = null
            return handOver(next)
        }
        if (entry.runs == 0 && entry.isEnding && entry.isLive) drop(run.key)
        return NONE
    }

    internal companion object {
        const val NONE = -1
        const val SKIPPED = -2
        const val REVOKED = -3
    }
}
