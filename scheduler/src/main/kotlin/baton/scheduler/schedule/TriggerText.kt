package baton.scheduler.schedule

import baton.scheduler.Trigger
import java.time.DateTimeException
import java.time.Instant
import kotlin.time.Duration

/**
 * The text of a trigger in a row: `every PT2M`, `every PT2M from 1970-01-01T00:00:00Z`, `delay PT30S`, `at
 * 2026-11-23T10:00:00Z`, `named nightly`.
 */
internal object TriggerText {
    private const val EVERY = "every "
    private const val FROM = " from "
    private const val DELAY = "delay "
    private const val AT = "at "
    private const val NAMED = "named "

    /** Whether a row can hold [trigger]. */
    fun hasText(trigger: Trigger): Boolean =
        trigger is EveryTrigger ||
            trigger is FixedDelayTrigger ||
            trigger is AtTrigger ||
            trigger is NamedTrigger ||
            trigger is UnknownTrigger

    fun of(trigger: Trigger): String =
        when (trigger) {
            is EveryTrigger -> EVERY + trigger.period.toIsoString() + (trigger.anchor?.let { FROM + it } ?: "")
            is FixedDelayTrigger -> DELAY + trigger.delay.toIsoString()
            is AtTrigger -> AT + trigger.instant
            is NamedTrigger -> NAMED + trigger.name
            is UnknownTrigger -> trigger.text
            else -> ""
        }

    /** An [UnknownTrigger] if the text is of no known form, or names no trigger of [named]. */
    fun parse(text: String, named: Map<String, Trigger>): Trigger =
        try {
            when {
                text.startsWith(EVERY) -> every(text.removePrefix(EVERY))
                text.startsWith(DELAY) -> FixedDelayTrigger(Duration.parseIsoString(text.removePrefix(DELAY)))
                text.startsWith(AT) -> AtTrigger(Instant.parse(text.removePrefix(AT)))
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

    private fun named(name: String, text: String, named: Map<String, Trigger>): Trigger {
        val trigger =
            named[name] ?: return UnknownTrigger(text, "no trigger is named '$name': see ScheduleConfig.triggers")
        return NamedTrigger(name, trigger)
    }
}
