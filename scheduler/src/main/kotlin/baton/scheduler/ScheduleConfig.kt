package baton.scheduler

import baton.BatonClock
import baton.resilience.RetryPolicy
import baton.scheduler.schedule.requireTime
import baton.waiting.threads.Trampoline
import kotlin.time.Duration
import kotlin.time.Duration.Companion.hours
import kotlin.time.Duration.Companion.milliseconds
import kotlin.time.Duration.Companion.seconds

/**
 * How a [Schedule] fires and stores.
 *
 * ```
 * val config = ScheduleConfig(
 *     misfire = Misfire.CatchUp(max = 3),
 *     overlap = Overlap.QUEUE_ONE,
 *     triggers = mapOf("nightly" to Trigger { after -> cron(after) }),
 *     runTimeout = { key -> if (key == "import") 1.hours else 30.seconds },
 *     retry = { RetryPolicy(maxAttempts = 3, backoff = Backoff.exponential(10.seconds)) },
 *     onFailure = { key, failure -> log.warn("{}", key, failure) },
 * )
 * ```
 *
 * It is immutable, and any number of schedules may share it.
 *
 * @property misfire the policy for due times that passed while the schedule did not run.
 * @property overlap the policy for an entry that is due while its last run goes on.
 * @property resolution wake-ups are at whole multiples of this time, so that entries that are due at almost the same
 *   time share one: finite and at least 1 ms. A run may be late by as much, and never early; its due time is not
 *   rounded.
 * @property flushEvery how long after a change the changed entries are written to the store: at least 1 ms. After a
 *   crash the runs of so much time may be repeated. Infinite: only [Schedule.flush] and the end write.
 * @property resyncEvery the time between two reads of the changes of other writers from the store: at least 1 ms.
 *   Infinite: only [Schedule.resync] reads.
 * @property grace how long the end of the schedule waits for running actions before it cancels them, and then for the
 *   store; at least 0; may be infinite.
 * @property triggers the triggers of which a store keeps only the name, see [Trigger.named].
 * @property onFailure called with the key and the exception of its action or its trigger; with the key and the store's
 *   refusal of its row; once for each outage, with the store and its failure; and with the [Schedule] and what delays
 *   or ends it, such as an executor that rejects it or was shut down, or a clock that throws. It is called on the
 *   thread of the action or of the schedule's loop, or of the caller that edits the entry, or, where the executor
 *   rejects, on one of `Dispatchers.IO`. It must not block. Its exceptions go to the thread's handler of uncaught
 *   exceptions. So does each failure by default.
 * @property clock the time, and the timers, of all that the schedule itself waits for. By default the date is that of
 *   the system, and the timers are those of the dispatcher of [Schedule.run]; or both are a test's. See [BatonClock].
 * @property runTimeout how long a run of the entry with that key may take, from the begin of its action: positive. Then
 *   the run is cancelled, and has failed with a [TaskTimeoutException], whatever its action returns or throws. It keeps
 *   its place, and counts as running, until the action has ended: one that heeds no cancellation goes on. Called at the
 *   begin of each run, on its thread. Its exception, or a time that is not positive, is the failure of the run, whose
 *   action is not called. By default infinite.
 * @property retry how often a failed run of the entry with that key is tried again, and when; null, as by default, for
 *   not at all. Called at the begin of each run, on its thread; its exception is the failure of the run. Each attempt
 *   has the whole [runTimeout], or [RetryPolicy.attemptTimeout] if that is shorter. Between two attempts the run gives
 *   its place back, but it goes on: [overlap] says what happens to further due times, [Schedule.cancelRun] ends it, and
 *   an edit that drops waiting runs drops it. Only the last failure is passed to [onFailure], with the earlier ones as
 *   suppressed. Attempts are not stored: after a restart a run begins with the first.
 * @throws IllegalArgumentException if a time is out of range.
 */
public class ScheduleConfig(
    public val misfire: Misfire = Misfire.FireOnce,
    public val overlap: Overlap = Overlap.SKIP,
    public val resolution: Duration = 10.milliseconds,
    public val flushEvery: Duration = 5.seconds,
    public val resyncEvery: Duration = 12.hours,
    public val grace: Duration = 10.seconds,
    triggers: Map<String, Trigger> = emptyMap(),
    public val onFailure: (key: Any, failure: Throwable) -> Unit = { _, failure -> Trampoline.report(failure) },
    public val clock: BatonClock? = null,
    public val runTimeout: (key: Any) -> Duration = { Duration.INFINITE },
    public val retry: (key: Any) -> RetryPolicy? = { null },
) {
    public val triggers: Map<String, Trigger> = triggers.toMap()

    init {
        requireTime("resolution", resolution)
        requireInterval("flushEvery", flushEvery)
        requireInterval("resyncEvery", resyncEvery)
        require(!grace.isNegative()) { "grace = $grace, must be at least 0" }
    }

    private fun requireInterval(name: String, interval: Duration) =
        require(interval >= 1.milliseconds) { "$name = $interval, must be at least 1ms" }

    override fun toString(): String =
        "ScheduleConfig (misfire = $misfire, overlap = $overlap, resolution = $resolution, " +
            "flushEvery = $flushEvery, resyncEvery = $resyncEvery, grace = $grace, triggers = ${triggers.keys})"
}
