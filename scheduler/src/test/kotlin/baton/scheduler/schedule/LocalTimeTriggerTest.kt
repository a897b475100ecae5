package baton.scheduler.schedule

import baton.scheduler.Trigger
import java.time.DayOfWeek
import java.time.Instant
import java.time.LocalDate
import java.time.LocalTime
import java.time.ZoneId
import kotlin.time.Duration.Companion.days
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertNull
import org.junit.jupiter.api.Assertions.assertThrows
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.api.Test
import org.junit.jupiter.params.ParameterizedTest
import org.junit.jupiter.params.provider.CsvSource
import org.junit.jupiter.params.provider.ValueSource

/** Times of the day in zones whose clocks are changed. */
class LocalTimeTriggerTest {
    private fun Trigger.after(time: String): String? = next(Instant.parse(time))?.toString()

    /** Gaps and overlaps as `java.time` knows them; each date is the day of the change. */
    @ParameterizedTest
    @CsvSource(
        // a gap of an hour: 02:30 is left out, and 03:00 takes its place
        "Europe/Berlin, 02:30, 2026-03-29, 2026-03-29T01:00:00Z",
        "America/New_York, 02:30, 2026-03-08, 2026-03-08T07:00:00Z",
        "Europe/London, 01:30, 2026-03-29, 2026-03-29T01:00:00Z",
        "Australia/Sydney, 02:30, 2026-10-04, 2026-10-03T16:00:00Z",
        // at midnight: the day begins at 01:00
        "Africa/Cairo, 00:15, 2026-04-24, 2026-04-23T22:00:00Z",
        "America/Santiago, 00:15, 2026-09-06, 2026-09-06T04:00:00Z",
        // of half an hour
        "Australia/Lord_Howe, 02:15, 2026-10-04, 2026-10-03T15:30:00Z",
        // an overlap: the first of the two
        "Europe/Berlin, 02:30, 2026-10-25, 2026-10-25T00:30:00Z",
        "America/New_York, 01:30, 2026-11-01, 2026-11-01T05:30:00Z",
        "Australia/Lord_Howe, 01:45, 2026-04-05, 2026-04-04T14:45:00Z",
        "America/Santiago, 23:30, 2026-04-04, 2026-04-05T02:30:00Z",
        // no change at all
        "Asia/Kolkata, 02:30, 2026-03-29, 2026-03-28T21:00:00Z",
        "Asia/Kathmandu, 00:00, 2026-01-01, 2025-12-31T18:15:00Z",
        "UTC, 23:59:59.999999999, 2026-02-28, 2026-02-28T23:59:59.999999999Z",
    )
    fun daily_onADayOfChange_isDueOnce(zone: String, time: String, day: String, due: String) {
        val trigger = Trigger.daily(LocalTime.parse(time), ZoneId.of(zone))
        val expected = Instant.parse(due)
        assertEquals(expected, trigger.next(expected.minusNanos(1)))
        val startOfDay = LocalDate.parse(day).atStartOfDay(ZoneId.of(zone)).toInstant()
        assertEquals(expected, trigger.next(startOfDay.minusNanos(1)))
        // The second of two is none.
        assertTrue(trigger.next(expected)!! > expected.plusSeconds(20 * 3600), "${trigger.next(expected)}")
    }

    /** Years of each zone, compared with every local time that a clock on the wall shows. */
    @ParameterizedTest
    @ValueSource(
        strings =
            [
                "Europe/Berlin",
                "America/New_York",
                "Australia/Lord_Howe",
                "Africa/Cairo",
                "Africa/Casablanca",
                "America/Santiago",
                "Asia/Tehran",
                "Pacific/Apia",
                "America/Nuuk",
                "Asia/Kathmandu",
                "Antarctica/Troll",
                "UTC",
            ]
    )
    fun daily_overYears_isDueOnEachDayOnce_neverBeforeItsTime(zone: String) {
        val id = ZoneId.of(zone)
        for (time in listOf("00:00", "00:15", "01:30", "02:30", "23:45").map(LocalTime::parse)) {
            val trigger = Trigger.daily(time, id)
            var at = Instant.parse("2010-06-01T12:00:00Z")
            val end = Instant.parse("2027-06-01T12:00:00Z")
            var day: LocalDate? = null
            while (at < end) {
                val due = trigger.next(at)!!
                assertTrue(due > at)
                val local = due.atZone(id)
                // A gap that ends at midnight moves the due time to the next date.
                val ofDay = if (local.toLocalTime() < time) local.toLocalDate().minusDays(1) else local.toLocalDate()
                if (day != null) {
                    val isSkipped = id.rules.getTransition(day.plusDays(1).atTime(time))?.duration?.toDays() == 1L
                    assertEquals(day.plusDays(if (isSkipped) 2 else 1), ofDay, "$due after $at")
                }
                day = ofDay
                at = due
            }
        }
    }

    @Test
    fun day_thatAZoneLeavesOut_hasNoDueTime() {
        // Samoa went from the 29th to the 31st of December 2011.
        val trigger = Trigger.daily(LocalTime.of(10, 0), ZoneId.of("Pacific/Apia"))
        assertEquals("2011-12-29T20:00:00Z", trigger.after("2011-12-28T20:00:00Z"))
        assertEquals("2011-12-30T20:00:00Z", trigger.after("2011-12-29T20:00:00Z"), "the 31st there")
    }

    @Test
    fun weekly_isDueOnItsDaysAlone() {
        val days = setOf(DayOfWeek.FRIDAY, DayOfWeek.MONDAY)
        val trigger = Trigger.weekly(days, LocalTime.of(8, 0), ZoneId.of("Europe/Berlin"))
        assertEquals("2026-11-30T07:00:00Z", trigger.after("2026-11-29T12:00:00Z"))
        assertEquals("2026-12-04T07:00:00Z", trigger.after("2026-11-30T07:00:00Z"))
        assertEquals("2026-12-07T07:00:00Z", trigger.after("2026-12-04T07:00:00Z"))
        val sunday = Trigger.weekly(setOf(DayOfWeek.SUNDAY), LocalTime.of(2, 30), ZoneId.of("Europe/Berlin"))
        assertEquals("2026-03-29T01:00:00Z", sunday.after("2026-03-22T01:30:00Z"), "the gap")
        assertEquals("2026-04-05T00:30:00Z", sunday.after("2026-03-29T01:00:00Z"))
        val refusal =
            assertThrows(IllegalArgumentException::class.java) {
                Trigger.weekly(emptySet(), LocalTime.NOON, ZoneId.of("UTC"))
            }
        assertEquals("days is empty, must hold at least one", refusal.message)
    }

    @Test
    fun days_thatTheCallerChangesLater_stay() {
        val days = mutableSetOf(DayOfWeek.MONDAY)
        val trigger = Trigger.weekly(days, LocalTime.NOON, ZoneId.of("UTC"))
        days.clear()
        assertEquals("weekly([MONDAY], 12:00, UTC)", "$trigger")
    }

    @Test
    fun texts_areReadAsTheyWere() {
        val zone = ZoneId.of("America/Argentina/Buenos_Aires")
        val triggers =
            mapOf(
                Trigger.daily(LocalTime.of(2, 30), zone) to "daily 02:30 America/Argentina/Buenos_Aires",
                Trigger.daily(LocalTime.MAX, ZoneId.of("+05:45")) to "daily 23:59:59.999999999 +05:45",
                Trigger.weekly(DayOfWeek.entries.toSet(), LocalTime.MIDNIGHT, zone) to
                    "daily 00:00 America/Argentina/Buenos_Aires",
                Trigger.weekly(setOf(DayOfWeek.SUNDAY, DayOfWeek.MONDAY), LocalTime.of(8, 0, 1), ZoneId.of("UTC")) to
                    "weekly MONDAY,SUNDAY 08:00:01 UTC",
            )
        for ((trigger, text) in triggers) {
            assertTrue(TriggerText.hasText(trigger))
            assertEquals(text, TriggerText.of(trigger))
            assertEquals("$trigger", "${TriggerText.parse(text, emptyMap())}")
        }
        for (text in
            listOf(
                "daily",
                "daily 25:00 UTC",
                "daily 02:30 Europe/Nowhere",
                "weekly  08:00 UTC",
                "weekly X 08:00 UTC",
                "daily 02:30",
            )) {
            assertTrue(TriggerText.parse(text, emptyMap()) is UnknownTrigger, text)
        }
    }

    @Test
    fun timesFarAway_haveNoEnd() {
        val trigger = Trigger.daily(LocalTime.NOON, ZoneId.of("Europe/Berlin"))
        assertNull(trigger.next(Instant.MAX))
        assertNull(trigger.next(Instant.MIN))
        assertEquals("9999-12-31T11:00:00Z", trigger.after("9999-12-31T00:00:00Z"))
    }

    @Test
    fun schedule_firesADailyEntry_andMakesUpForAMissedOne() = scheduleTest {
        val schedule = started()
        schedule.put("a", Trigger.daily(LocalTime.of(2, 30), ZoneId.of("Europe/Berlin")))
        assertEquals("1970-01-01T01:30:00Z", "${schedule.nextDue("a")}")
        pass(2.days)
        assertEquals(listOf(5_400L, 91_800L), times)
        jump(3.days)
        pass(1.days)
        assertEquals(listOf(0, 0, 2), runs.take(3).map { it.missed })
    }
}
