package baton.scheduler

import baton.scheduler.schedule.requireTime
import java.time.InstantSource
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
 *     onFailure = { key, failure -> log.warn("{}", key, failure) },
 * )
 * ```
 *
 * It is immutable, and any number of schedules may share it.
 *
 * @property misfire what happens to due times that passed while the schedule did not run.
 * @property overlap what happens when an entry is due while its last run goes on.
 * @property resolution wake-ups are at whole multiples of this time, so that entries that are due at almost the same
 *   time share one: finite and at least 1 ms. A run may be late by as much, and never early; its due time is not
 *   rounded.
 * @property flushEvery how long after a change the changed entries are written to the store: at least 1 ms. After a
 *   crash the runs of so much time may be repeated. Infinite: only [Schedule.flush] and the end write.
 * @property resyncEvery the time between two reads of what others have changed in the store: at least 1 ms. Infinite:
 *   only [Schedule.resync] reads.
 * @property grace how long the end of the schedule waits for running actions before it cancels them, and then for the
 *   store; at least 0; may be infinite.
 * @property triggers the triggers of which a store keeps only the name, see [Trigger.named].
 * @property onFailure called with the key and what its action or its trigger has thrown; with the key and the store's
 *   refusal of its row; and with the store and its failure, once for each outage. It is called on the thread of the
 *   action or of the schedule's loop, or of the caller that edits the entry, and must not block. What it throws is
 *   passed to the thread's handler of uncaught exceptions.
 * @property clock the time. For a test in virtual time pass one that reads `testScheduler.currentTime`.
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
    public val onFailure: (key: Any, failure: Throwable) -> Unit = { _, _ -> },
    public val clock: InstantSource = InstantSource.system(),
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
