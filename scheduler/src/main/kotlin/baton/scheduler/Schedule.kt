package baton.scheduler

import baton.Priority
import baton.monitoring.Monitored
import baton.monitoring.Usage
import baton.monitoring.core.listIfNamed
import baton.monitoring.withTotals
import baton.scheduler.schedule.EntryData
import baton.scheduler.schedule.EntryTable
import baton.scheduler.schedule.FireCore
import baton.scheduler.schedule.ScheduleCore
import baton.scheduler.schedule.ScheduleLifecycle
import baton.scheduler.schedule.StoreOutage
import baton.scheduler.schedule.StoreRows
import baton.scheduler.schedule.StoreSync
import java.time.Instant
import java.util.concurrent.RejectedExecutionException
import kotlin.coroutines.cancellation.CancellationException
import kotlin.time.Duration.Companion.microseconds

/**
 * Runs an action for each of its entries again and again, at the times of the entry's [Trigger]. Entries are kept in
 * memory, many thousands of them; a [ScheduleStore] is read once and written behind, so that a run costs no I/O.
 *
 * ```
 * val schedule = Schedule<String>(maxConcurrency = 200, name = "checks") { due -> check(due.key) }
 * val running = scope.launch { schedule.run() }
 * schedule.put("a", Trigger.every(2.minutes))
 * schedule.put("b", Trigger.fixedDelay(30.seconds), Priority.HIGH)
 * schedule.triggerNow("a")
 * running.cancel() // waits for what runs, and writes what has changed
 * ```
 *
 * *Order.* Entries are due by due time, then by priority, then in the order in which they were put. Runs that wait for
 * a place begin most urgent first. An entry never fires early; how late it may be is [ScheduleConfig.resolution], and
 * the wait for a place. Actions run as tasks of a [TaskScheduler] of [maxConcurrency] at the level of their entry, in
 * the context of the caller of [run].
 *
 * *Edits.* [put], [putIfAbsent], [remove], [pause], [resume], [pauseAll], [resumeAll], [triggerNow] and [cancelRun] may
 * be called from any thread, also before [run] and from actions. They never wait, and are in effect when they return:
 * [nextDue] right after [put] sees it. After the end they throw [IllegalStateException], whose cause is what [run] has
 * thrown, if it has.
 *
 * *Late and overlapping runs.* [Misfire] is the policy for due times that passed while the schedule did not run or
 * because the clock jumped, [Overlap] that for an entry that is due while its last run goes on. If the clock is set
 * back, no entry fires early, and within a minute the entries are due by the new time. The same holds over a restart:
 * an entry that is loaded is due at the stored time or at the next one of its trigger from now on, whichever is
 * earlier, so neither a clock that was ahead nor a former definition of a named trigger delays it; an `at` is due at
 * its own time. Due times that pass while an entry is paused are no misfires.
 *
 * *Failures.* An action that throws is tried again as [ScheduleConfig.retry] says. Then it is counted and passed to
 * [ScheduleConfig.onFailure]; its entry stays. So it is if a run takes longer than [ScheduleConfig.runTimeout]. A
 * trigger that throws is passed there, too, and stops its entry until the next start at most: [failedTriggers] lists
 * those. While an executor rejects the schedule or its runs, entries fire late: both are offered again, at least every
 * 100 ms, until they are accepted or the executor is shut down. A run that waits for that keeps its place among the
 * [maxConcurrency]; runs that wait are accepted in any order. If its entry is removed or paused meanwhile, it is
 * dropped. If the schedule ends meanwhile, it stays due, as a run that has not begun. A clock that throws delays the
 * entries, too, by a second at most after it works again. Both are passed to [ScheduleConfig.onFailure], with the
 * schedule.
 *
 * *Store.* Each run is at least once: after a crash, the runs of the last [ScheduleConfig.flushEvery] may be repeated.
 * For `every`, only the trigger is stored, so due times that pass while no process runs are not made up for. The
 * schedule takes over the changes of other writers, except for entries that were changed here and are not written yet.
 * While the store fails, entries fire as ever, and the changes, one for each entry, are kept and tried again. A row
 * that the store refuses with an [IllegalArgumentException] is passed to [ScheduleConfig.onFailure] with its key, and
 * left out until the entry is changed. A trigger of your own without a name is not stored.
 *
 * *Cancellation.* Cancelling [run] ends the schedule as [shutdown] does: no entry fires any more, running actions get
 * the [ScheduleConfig.grace] to end and are cancelled then, changes are written for as long as that, and the store is
 * closed, for which it gets a second. So [run] ends within twice the grace and a second, if actions and store do not
 * block their threads and heed cancellation.
 *
 * *Memory.* Actions before an edit happen-before the runs that follow on it. A run happens-before the next one of its
 * entry, unless they overlap.
 *
 * *Misuse.* Calling [run] twice throws [IllegalStateException]. The `equals` and `hashCode` of a key run under a lock:
 * they must not call the schedule, and must not change. Only one schedule may use a store at a time.
 *
 * @param K the keys of the entries.
 * @property store where the entries are kept. The schedule closes it when it ends.
 * @property maxConcurrency how many actions run at a time, at least 1.
 * @property name shown by messages and [toString].
 * @property config the policies and times.
 * @param action called for each run.
 * @throws IllegalArgumentException if [maxConcurrency] is below 1.
 */
public class Schedule<K : Any>(
    public val store: ScheduleStore<K> = InMemoryScheduleStore(),
    public val maxConcurrency: Int = 200,
    public override val name: String? = null,
    public val config: ScheduleConfig = ScheduleConfig(),
    private val action: suspend (Due<K>) -> Unit,
) : Monitored {
    init {
        require(maxConcurrency >= 1) { "maxConcurrency = $maxConcurrency, must be at least 1" }
    }

    private val label = if (name == null) "Schedule" else "Schedule '$name'"
    private val table = EntryTable<K>(config.resolution.inWholeMicroseconds)
    private val core = ScheduleCore(config, table, label)
    private val fires = FireCore(config, table)
    private val sync =
        StoreSync(config, store, core, StoreRows(config, core), StoreOutage { core.report(store, it) }, label)
    private val life = ScheduleLifecycle(config, store, core, sync, label) { core.report(this, it) }

    init {
        listIfNamed(core = null)
    }

    /** How many entries there are, paused ones included. */
    public val size: Int
        get() = core.size

    /** A snapshot of its counters. */
    public val metrics: ScheduleMetrics
        get() {
            // Read before the lock of the entries is taken: one lock at a time.
            val tasks = life.tasks?.metrics
            return fires.counts { counts, unwritten ->
                ScheduleMetrics(
                    counts.fired,
                    counts.succeeded,
                    counts.failed,
                    counts.timedOut,
                    counts.cancelled,
                    counts.retried,
                    counts.running,
                    counts.skipped,
                    lagTotal = counts.lags.sum.microseconds,
                    lagP50 = counts.lags.quantile(MEDIAN).microseconds,
                    lagP99 = counts.lags.quantile(NINETY_NINE).microseconds,
                    dirty = unwritten,
                    sync.reads,
                    sync.writes,
                    sync.flushFailures,
                    tasks,
                )
            }
        }

    /**
     * The slots of [maxConcurrency] that runs occupy, and the runs that wait for one; none before [run]. Its
     * `longestRun` is that of the oldest run that goes on. Its totals are `fired`, `succeeded`, `failed`, `timedOut`,
     * `cancelled`, `retried` and `skipped`, and, in microseconds, `lagTotal`: see [ScheduleMetrics].
     */
    override fun usage(): Usage {
        val slots = life.tasks?.usage() ?: Usage(inUse = 0, capacity = maxConcurrency.toLong())
        val totals =
            metrics.run {
                mapOf(
                    "fired" to fired,
                    "succeeded" to succeeded,
                    "failed" to failed,
                    "timedOut" to timedOut,
                    "cancelled" to cancelled,
                    "retried" to retried,
                    "skipped" to skipped,
                    "lagTotal" to lagTotal.inWholeMicroseconds,
                )
            }
        return slots.withTotals(totals)
    }

    /**
     * Loads the entries from the store, then fires until it is cancelled or [shutdown] is called. In the latter case it
     * returns. An entry that was put before wins over the one that is loaded.
     *
     * @throws IllegalStateException if it was called before, or after [shutdown]. Otherwise it ends only for the
     *   reasons below. [ScheduleConfig.onFailure] gets each of them, too, except the cancellation of the caller.
     * @throws ScheduleOwnedException if another schedule uses the store, see [JdbcScheduleStore].
     * @throws Exception if the store cannot be read at the start: then nothing has fired, and the store is left as it
     *   is. If the store throws a [CancellationException], for a timeout of its own say, that is the cause of an
     *   [IllegalStateException].
     * @throws CancellationException if the caller is cancelled, or the executor of its dispatcher was shut down.
     * @throws RejectedExecutionException if a dispatcher that does not tell whether it was shut down has refused the
     *   schedule for a minute. A dispatcher that rejects the return of this call cancels the caller, as with each call
     *   that suspends.
     */
    public suspend fun run() {
        if (!life.begin()) {
            val failure = core.endedBy
            val end = if (failure == null) "has ended" else "has ended ($failure)"
            throw IllegalStateException("$label runs already, or $end: run is called once", failure)
        }
        life.run(fires, maxConcurrency, name, action)
    }

    /**
     * Adds an entry, or replaces the trigger, the priority and the data of the one with this [key]; a pause ends, and a
     * run that goes on continues. If the trigger has no due time, there is no entry afterwards; if it throws, the entry
     * does not fire, see [failedTriggers].
     *
     * @param data passed to each run, see [Due.data] and [Due.text]; at most 65,536 bytes, which are copied and stored
     *   with the entry. Null for none.
     * @param keepDue whether the due time and the pause of an entry that is there stay as they are: for a program that
     *   puts its entries anew at each start. So it is, too, before [run] has loaded the entry; with a due time that is
     *   later than that of the new trigger, the latter counts. No effect if there is no such entry, if its trigger has
     *   failed, or if the old or the new trigger is an [at][Trigger.at], unless both are the same one.
     * @throws IllegalArgumentException if [data] is too long.
     * @throws IllegalStateException after the end.
     */
    public fun put(
        key: K,
        trigger: Trigger,
        priority: Priority = Priority.NORMAL,
        data: ByteArray? = null,
        keepDue: Boolean = false,
    ) {
        core.put(key, trigger, priority, EntryData.copyOf(data), keepDue)
    }

    /**
     * As [put], unless there is such an entry. Returns whether there was none; before [run] has loaded the entries, it
     * is the loaded one that stays, whatever this has returned.
     *
     * @throws IllegalArgumentException if [data] is too long.
     * @throws IllegalStateException after the end.
     */
    public fun putIfAbsent(
        key: K,
        trigger: Trigger,
        priority: Priority = Priority.NORMAL,
        data: ByteArray? = null,
    ): Boolean = core.putIfAbsent(key, trigger, priority, EntryData.copyOf(data))

    /**
     * Removes an entry: it does not fire again, and its runs that still wait are dropped. Running actions continue.
     * Returns whether there was such an entry.
     *
     * @throws IllegalStateException after the end.
     */
    public fun remove(key: K): Boolean = core.remove(key)

    /**
     * Requests a run at once, also of a paused entry, without any effect on its due times. If a run of the entry goes
     * on, the requested one begins after it, unless runs may [overlap][Overlap.ALLOW]. Requests whose run has not begun
     * count as one. Before [run] it is taken up then. Returns whether there is such an entry.
     *
     * @throws IllegalStateException after the end.
     */
    public fun triggerNow(key: K): Boolean = core.triggerNow(key)

    /**
     * Cancels all runs of the entry: those that go on, that wait for a place, or for the end of another run, and a
     * [request][triggerNow]. Returns how many there were. Each counts as cancelled and is not repeated, at the next
     * start neither; missed due times are not made up for any more. The entry and its due times stay. An entry that was
     * due once is removed at the end of its cancelled run.
     *
     * A run that goes on keeps its place, and counts as running, until its action has ended: one that heeds no
     * cancellation goes on. So it is for one whose time was over before. An exception that it throws meanwhile, apart
     * from a `CancellationException`, is passed to [ScheduleConfig.onFailure]. Runs of an entry that was removed are
     * found, too, as long as they go on.
     *
     * @throws IllegalStateException after the end.
     */
    public fun cancelRun(key: K): Int = fires.cancelRuns(key, core::checkOpen, life::cancel)

    /**
     * Stops an entry from firing until [resume] or [put]; its runs that still wait are dropped. Returns whether there
     * is such an entry.
     *
     * @throws IllegalStateException after the end.
     */
    public fun pause(key: K): Boolean = core.pause(key)

    /**
     * Ends a [pause]: the entry gets a due time as if it was put anew. So does one whose trigger has failed, see
     * [failedTriggers], and one that was due once and whose run has failed: that is due at once, also with
     * [Misfire.Skip]. No effect on others. Returns whether there is such an entry.
     *
     * @throws IllegalStateException after the end.
     */
    public fun resume(key: K): Boolean = core.resume(key)

    /** Whether the schedule is paused as a whole. */
    public val isPaused: Boolean
        get() = core.isPaused

    /**
     * Pauses the schedule as a whole: no run begins until [resumeAll], also over a restart. Running actions continue.
     * Entries keep their due times; those that pass meanwhile are misfires, as if the schedule did not run, see
     * [Misfire]. Runs that wait for a place, for another attempt, or that [triggerNow] requests begin after
     * [resumeAll]. Pauses of single entries are not affected.
     *
     * @throws IllegalStateException after the end.
     */
    public fun pauseAll() {
        setPaused(true)
    }

    /**
     * Ends a [pauseAll]. No effect if there is none.
     *
     * @throws IllegalStateException after the end.
     */
    public fun resumeAll() {
        setPaused(false)
    }

    private fun setPaused(isPaused: Boolean) {
        core.setPaused(isPaused)
        life.applyPause()
    }

    /**
     * Up to [limit] entries, in an order that stays the same while they are there. The next page begins behind the last
     * key of this one:
     * ```
     * var page = schedule.entries()
     * while (page.isNotEmpty()) {
     *     page.forEach(::show)
     *     page = schedule.entries(after = page.last().key)
     * }
     * ```
     *
     * Each entry is consistent in itself. An entry that is put meanwhile may be missed. Any number of entries may be
     * read like that: the time depends on the page, and other calls wait for a thousand of them at most.
     *
     * @throws IllegalArgumentException if [limit] is below 1, or if there is no entry [after] any more: go on behind
     *   one before it then.
     */
    public fun entries(after: K? = null, limit: Int = 1_000): List<ScheduleEntry<K>> = core.entries(after, limit)

    /**
     * When the entry is due; null if there is none, if it is paused, if its trigger has failed (see [failedTriggers])
     * or its only run has, if its due time depends on the end of the run that goes on, or if its last run goes on.
     */
    public fun nextDue(key: K): Instant? = core.nextDue(key)

    /** When the first of all entries fires next; null if there is none that is due. */
    @JvmSynthetic internal fun firstDue(): Instant? = core.firstDue()

    /**
     * The keys of the entries whose trigger has thrown, or is unknown to [ScheduleConfig.triggers]. They do not fire:
     * the trigger is tried again by [resume], by a [put], and at the next start of a schedule with the same store.
     * Empty if all is well. Looks at all entries.
     */
    public fun failedTriggers(): List<K> = core.failedTriggers()

    /**
     * Writes all changes to the store now, those included that were made before the call. Waits for a flush or a resync
     * that goes on.
     *
     * *Cancellation.* The changes are kept and written later.
     *
     * @throws Exception that of the store; the changes are kept and tried again.
     */
    public suspend fun flush() {
        sync.flush()
    }

    /**
     * Reads the changes of other writers from the store since the last time. Waits until [run] has loaded the entries,
     * and for a flush that goes on.
     *
     * *Cancellation.* The schedule takes over all of the changes or none.
     *
     * @throws IllegalStateException after the end, also if that comes while it waits for the store.
     * @throws Exception that of the store.
     */
    public suspend fun resync() {
        sync.resync()
    }

    /**
     * Ends the schedule and waits for the end: see the cancellation of the class. A schedule that does not run writes
     * its changes, and cannot run any more. An action that calls this waits for itself, until the grace is over and it
     * is cancelled. Any number of callers may wait.
     *
     * *Cancellation.* The schedule ends all the same.
     */
    public suspend fun shutdown() {
        life.shutdown()
    }

    override fun toString(): String {
        val metrics = metrics
        val paused = if (isPaused) ", paused" else ""
        return "$label (size = $size, running = ${metrics.running} of $maxConcurrency, dirty = ${metrics.dirty}$paused)"
    }

    private companion object {
        const val MEDIAN = 0.5
        const val NINETY_NINE = 0.99
    }
}
