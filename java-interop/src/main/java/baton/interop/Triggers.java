package baton.interop;

import baton.scheduler.Trigger;
import baton.scheduler.bridge.ScheduleBridge;
import java.time.DayOfWeek;
import java.time.Duration;
import java.time.Instant;
import java.time.LocalTime;
import java.time.ZoneId;
import java.util.Objects;
import java.util.Set;

/**
 * The triggers of an {@link AsyncSchedule}. A lambda is a trigger of your own: {@code after -> after.plusSeconds(60)}
 * returns the first due time after {@code after}, or null at the end. It is called more often than the entry fires, so it
 * must not count its calls.
 *
 * <p><i>Cron.</i> The documentation of {@link Trigger} has a trigger for cron expressions by cron-utils. In the night in
 * which an hour comes twice, {@code 30 2 * * *} fires at the first 02:30; but an entry that is put, resumed or loaded
 * between the two fires at the second one, even if it has fired at the first.
 */
public final class Triggers {
    private Triggers() {}

    /**
     * At {@code phase + k × period} for every whole number k, without drift. The phase is a hash of the entry's key, so
     * that entries with the same period spread out. Nothing is written to the store for a run.
     *
     * @param period from 1 ms on
     * @throws IllegalArgumentException if {@code period} is below that
     */
    public static Trigger every(Duration period) {
        return ScheduleBridge.every(Objects.requireNonNull(period, "period"));
    }

    /**
     * As {@link #every(Duration)}, with the phase of {@code anchor}: {@code every(Duration.ofHours(1), Instant.EPOCH)}
     * is due on the hour (of UTC).
     *
     * @throws IllegalArgumentException if {@code period} is below 1 ms
     */
    public static Trigger every(Duration period, Instant anchor) {
        return ScheduleBridge.every(Objects.requireNonNull(period, "period"), Objects.requireNonNull(anchor, "anchor"));
    }

    /**
     * {@code delay} after the end of the last run, so that runs never overlap; first {@code delay} after the {@code
     * put}.
     *
     * @param delay from 1 ms on
     * @throws IllegalArgumentException if {@code delay} is below that
     */
    public static Trigger fixedDelay(Duration delay) {
        return ScheduleBridge.fixedDelay(Objects.requireNonNull(delay, "delay"));
    }

    /**
     * Once, at {@code instant}; the entry is removed when its run has succeeded or was cancelled, and stays, paused, if the
     * run has failed. A time that is past is due at once, or
     * never after {@link AsyncScheduleBuilder#skipMissed}.
     */
    public static Trigger at(Instant instant) {
        return Trigger.Companion.at(Objects.requireNonNull(instant, "instant"));
    }

    /**
     * Every day at {@code time} in {@code zone}. Where clocks are put forward over it, that day's due time is the end of
     * the gap; where they are put back over it, the first of the two; a day that the zone leaves out has none. See {@link Trigger}.
     */
    public static Trigger daily(LocalTime time, ZoneId zone) {
        return Trigger.Companion.daily(Objects.requireNonNull(time, "time"), Objects.requireNonNull(zone, "zone"));
    }

    /**
     * On these days of each week at {@code time} in {@code zone}, as {@link #daily}.
     *
     * @throws IllegalArgumentException if there is no day
     */
    public static Trigger weekly(Set<DayOfWeek> days, LocalTime time, ZoneId zone) {
        return Trigger.Companion.weekly(
                Objects.requireNonNull(days, "days"),
                Objects.requireNonNull(time, "time"),
                Objects.requireNonNull(zone, "zone"));
    }

    /**
     * {@code trigger} under a name, which the store keeps in its place. When the entry is loaded, the trigger of that
     * name in {@link AsyncScheduleBuilder#triggers} is used: the entry is due at the stored time, or at the next one of
     * that trigger if it is earlier.
     *
     * @throws IllegalArgumentException if {@code name} is blank
     */
    public static Trigger named(String name, Trigger trigger) {
        return Trigger.Companion.named(
                Objects.requireNonNull(name, "name"), Objects.requireNonNull(trigger, "trigger"));
    }
}
