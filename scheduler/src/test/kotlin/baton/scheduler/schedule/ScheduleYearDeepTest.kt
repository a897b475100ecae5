package baton.scheduler.schedule

import kotlin.time.Duration.Companion.days
import kotlin.time.Duration.Companion.hours
import kotlin.time.Duration.Companion.seconds
import org.junit.jupiter.api.Test

/** As [ScheduleDayTest], over a year. */
class ScheduleYearDeepTest {
    @Test
    fun hundredEntries_aYear_fireExactly() = firesExactly(100, 365.days, limit = 1.hours) { (60 + it * 37).seconds }
}
