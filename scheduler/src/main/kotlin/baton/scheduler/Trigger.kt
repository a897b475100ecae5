package baton.scheduler

import baton.scheduler.schedule.AtTrigger
import baton.scheduler.schedule.EveryTrigger
import baton.scheduler.schedule.FixedDelayTrigger
import baton.scheduler.schedule.LocalTimeTrigger
import baton.scheduler.schedule.NamedTrigger
import java.time.DayOfWeek
import java.time.Instant
import java.time.LocalTime
import java.time.ZoneId
import kotlin.time.Duration

/**
 * When an entry of a [Schedule] is due.
 *
 * ```
 * schedule.put("check", Trigger.every(2.minutes))
 * schedule.put("rotate", Trigger.every(1.hours, anchor = Instant.EPOCH)) // on the hour
 * schedule.put("poll", Trigger.fixedDelay(30.seconds))
 * schedule.put("remind", Trigger.at(Instant.now().plusSeconds(5)))
 * schedule.put("report", Trigger.daily(LocalTime.of(2, 30), ZoneId.of("Europe/Berlin")))
 * schedule.put("tick", Trigger { after -> after.plusSeconds(60) })
 * ```
 *
 * *Cron.* There is no parser for cron expressions here. With cron-utils (`com.cronutils:cron-utils`):
 * ```
 * fun cron(expression: String, zone: ZoneId): Trigger {
 *     val definition = CronDefinitionBuilder.instanceDefinitionFor(CronType.UNIX)
 *     val times = ExecutionTime.forCron(CronParser(definition).parse(expression))
 *     return Trigger { after -> times.nextExecution(after.atZone(zone)).orElse(null)?.toInstant() }
 * }
 * schedule.put("report", Trigger.named("nightly", cron("30 2 * * *", ZoneId.of("Europe/Berlin"))))
 * ```
 *
 * A time in the hour that summer time leaves out is skipped. A time in the hour that comes twice fires once, at the
 * first of the two, but a step such as every half-hour fires each time. An entry that is put, resumed or loaded between
 * the two fires at the second one, even if it has fired at the first: nothing tells the trigger so. For a time that
 * must not come twice choose one outside that hour, or a zone without summer time.
 *
 * A trigger of your own is kept in memory only; a store keeps it under a name, see [named]. The schedule calls it on
 * the thread that edits the entry, and in its loop, never under a lock: it should be quick and must not block, because
 * all entries wait meanwhile. Due times have a precision of one microsecond, and are rounded up to it.
 */
public fun interface Trigger {
    /**
     * The first due time after [after], or null if there is none: then the entry is removed. The schedule passes the
     * last due time, or the present time if the entry is new or has missed due times. A time that is not after [after]
     * counts as the present. If this throws, the entry does not fire until it is resumed, put anew or loaded by the
     * next start, see [Schedule.failedTriggers], and the exception is passed to [ScheduleConfig.onFailure]. It is
     * called more often than the entry fires, so it must not count its calls.
     */
    public fun next(after: Instant): Instant?

    public companion object {
        /**
         * At `anchor + k × period`, for every whole number k, negative ones included: the [anchor] sets the phase, not
         * the start. There is no drift, however late runs are. Nothing is written to the store for a run.
         *
         * Without an [anchor] the phase is a hash of the entry's key, so that entries of the same period spread out.
         * The phase is the same in every process if the key's `hashCode` is, as for strings, numbers, and data classes
         * of them. Outside a schedule there is no key, and the phase is that of the epoch.
         *
         * @param period finite and at least 1 ms; from 292 years on it counts as that long.
         * @throws IllegalArgumentException if [period] is out of range.
         */
        public fun every(period: Duration, anchor: Instant? = null): Trigger = EveryTrigger(period, anchor)

        /**
         * [delay] after the end of the last run, and first [delay] after the entry was put. So its runs never overlap.
         *
         * @param delay finite and at least 1 ms.
         * @throws IllegalArgumentException if [delay] is out of range.
         */
        public fun fixedDelay(delay: Duration): Trigger = FixedDelayTrigger(delay)

        /**
         * Once, at [instant]. The entry is removed when its run has succeeded or was cancelled. If the run has failed,
         * and no [retry][ScheduleConfig.retry] follows, the entry stays, paused by [PausedBy.FAILED_RUN]: until it is
         * removed, put again or resumed, which is due at once, or until a run by [Schedule.triggerNow] succeeds. An
         * entry that is put with a time that is past is due at once, or never with [Misfire.Skip].
         */
        public fun at(instant: Instant): Trigger = AtTrigger(instant)

        /**
         * Every day at [time] in [zone], such as 02:30 in Europe/Berlin. Where the clocks there are changed, by the
         * rules of `java.time`:
         * - Where they are put forward over [time], that day's due time is the end of the gap: 03:00 for a 02:30 that
         *   is left out. So no day lacks its run.
         * - Where they are put back over [time], it is due at the first of the two. An entry that is put, resumed or
         *   loaded between the two is due on the next day: unlike with cron, no day has two runs.
         * - A day that a zone leaves out as a whole has no due time.
         */
        public fun daily(time: LocalTime, zone: ZoneId): Trigger =
            LocalTimeTrigger(LocalTimeTrigger.EVERY_DAY, time, zone)

        /**
         * On these [days] of each week at [time] in [zone], as [daily].
         *
         * @throws IllegalArgumentException if there is no day.
         */
        public fun weekly(days: Set<DayOfWeek>, time: LocalTime, zone: ZoneId): Trigger {
            require(days.isNotEmpty()) { "days is empty, must hold at least one" }
            return LocalTimeTrigger(days.toSortedSet(), time, zone)
        }

        /**
         * [trigger] under a [name], which the store keeps in its place. When the entry is loaded, the trigger of that
         * name in [ScheduleConfig.triggers] is used: the entry is due at the stored time, or at the next one of that
         * trigger if it is earlier. So a new definition counts from the next start, and a missed run is carried over.
         *
         * @throws IllegalArgumentException if [name] is blank.
         */
        public fun named(name: String, trigger: Trigger): Trigger = NamedTrigger(name, trigger)
    }
}
