package baton.scheduler.schedule

import baton.scheduler.Trigger
import java.time.DateTimeException
import java.time.DayOfWeek
import java.time.Instant
import java.time.LocalTime
import java.time.ZoneId
import java.util.TreeSet
import kotlin.time.Duration

/**
 * The text of a trigger in a row: `every PT2M`, `every PT2M from 1970-01-01T00:00:00Z`, `delay PT30S`, `at
 * 2026-11-23T10:00:00Z`, `daily 02:30 Europe/Berlin`, `weekly MONDAY,FRIDAY 02:30 Europe/Berlin`, `named nightly`.
 */
internal object TriggerText {
    private const val EVERY = "every "
    private const val FROM = " from "
    private const val DELAY = "delay "
    private const val AT = "at "
    private const val DAILY = "daily "
    private const val WEEKLY = "weekly "
    private const val NAMED = "named "

    /** Whether a row can hold [trigger]. */
    fun hasText(trigger: Trigger): Boolean =
        trigger is EveryTrigger ||
            trigger is FixedDelayTrigger ||
            trigger is AtTrigger ||
            trigger is LocalTimeTrigger ||
            trigger is NamedTrigger ||
            trigger is UnknownTrigger

    fun of(trigger: Trigger): String =
        when (trigger) {
            is EveryTrigger -> EVERY + trigger.period.toIsoString() + (trigger.anchor?.let { FROM + it } ?: "")
            is FixedDelayTrigger -> DELAY + trigger.delay.toIsoString()
            is AtTrigger -> AT + trigger.instant
            is LocalTimeTrigger -> textOf(trigger)
            is NamedTrigger -> NAMED + trigger.name
            is UnknownTrigger -> trigger.text
            else -> ""
        }

    private fun textOf(trigger: LocalTimeTrigger): String {
        val days =
            if (trigger.days.size == DayOfWeek.entries.size) DAILY else WEEKLY + trigger.days.joinToString(",") + " "
        return "$days${trigger.time} ${trigger.zone}"
    }

    /** An [UnknownTrigger] if the text is of no known form, or names no trigger of [named]. */
    fun parse(text: String, named: Map<String, Trigger>): Trigger =
        try {
            when {
                text.startsWith(EVERY) -> every(text.removePrefix(EVERY))
                text.startsWith(DELAY) -> FixedDelayTrigger(Duration.parseIsoString(text.removePrefix(DELAY)))
                text.startsWith(AT) -> AtTrigger(Instant.parse(text.removePrefix(AT)))
                text.startsWith(DAILY) -> localTime(LocalTimeTrigger.EVERY_DAY, text.removePrefix(DAILY))
                text.startsWith(WEEKLY) -> weekly(text.removePrefix(WEEKLY))
                text.startsWith(NAMED) -> named(text.removePrefix(NAMED), text, named)
                else -> UnknownTrigger(text, "the trigger '$text' is of no known form")
            }
        } catch (e: IllegalArgumentException) {
            UnknownTrigger(text, "the trigger '$text' is of no known form: ${e.message}")
        } catch (e: DateTimeException) {
            UnknownTrigger(text, "the trigger '$text' is of no known form: ${e.message}")
        }

    private fun every(text: String): Trigger {
        val period = text.substringBefore(FROM)
        val anchor = text.removePrefix(period).removePrefix(FROM)
        return EveryTrigger(Duration.parseIsoString(period), if (anchor.isEmpty()) null else Instant.parse(anchor))
    }

    private fun weekly(text: String): Trigger {
        val days = text.substringBefore(' ').split(',').mapTo(TreeSet(), DayOfWeek::valueOf)
        return localTime(days, text.substringAfter(' '))
    }

    private fun localTime(days: Set<DayOfWeek>, text: String): Trigger =
        LocalTimeTrigger(days, LocalTime.parse(text.substringBefore(' ')), ZoneId.of(text.substringAfter(' ')))

    private fun named(name: String, text: String, named: Map<String, Trigger>): Trigger {
        val trigger =
            named[name] ?: return UnknownTrigger(text, "no trigger is named '$name': see ScheduleConfig.triggers")
        return NamedTrigger(name, trigger)
    }
}
