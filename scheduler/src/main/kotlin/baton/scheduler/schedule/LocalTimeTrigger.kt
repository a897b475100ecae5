package baton.scheduler.schedule

import baton.scheduler.Trigger
import java.time.DayOfWeek
import java.time.Duration
import java.time.Instant
import java.time.LocalDate
import java.time.LocalTime
import java.time.ZoneId

/**
 * At [time] in [zone] on [days]: of a time that comes twice the first one, of a time that is left out the end of the
 * gap. A day that is left out as a whole has no due time.
 */
internal class LocalTimeTrigger(val days: Set<DayOfWeek>, val time: LocalTime, val zone: ZoneId) : Trigger {
    override fun next(after: Instant): Instant? {
        // Far beyond the times of a schedule a date has no days around it.
        if (after < FIRST || after > LAST) return null
        // The due time of the day before may come after midnight, at the end of a gap.
        var day = after.atZone(zone).toLocalDate().minusDays(1)
        while (true) {
            val due = if (day.dayOfWeek in days) dueOn(day) else null
            if (due != null && due > after) return due
            day = day.plusDays(1)
        }
    }

    private fun dueOn(day: LocalDate): Instant? {
        val local = day.atTime(time)
        val offsets = zone.rules.getValidOffsets(local)
        if (offsets.isNotEmpty()) return local.toInstant(offsets.first())
        val gap = zone.rules.getTransition(local)
        return if (gap.duration >= WHOLE_DAY) null else gap.instant
    }

    override fun toString() =
        if (days.size == DayOfWeek.entries.size) "daily($time, $zone)" else "weekly($days, $time, $zone)"

    companion object {
        private val WHOLE_DAY = Duration.ofDays(1)
        private val FIRST = Instant.ofEpochSecond(Times.EARLIEST / 1_000_000)
        private val LAST = Instant.ofEpochSecond(Times.LATEST / 1_000_000)

        val EVERY_DAY: Set<DayOfWeek> = DayOfWeek.entries.toSet()
    }
}
