package baton.resilience

import baton.resilience.attempts.wholeMillisOf
import java.time.DateTimeException
import java.time.Instant
import java.time.InstantSource
import java.time.LocalDateTime
import java.time.ZoneOffset
import kotlin.time.Duration
import kotlin.time.Duration.Companion.seconds
import kotlin.time.toKotlinDuration

/**
 * The `Retry-After` header of HTTP (RFC 9110, section 10.2.3).
 *
 * ```
 * RetryAfter.parse("120")                                    // 2m
 * RetryAfter.parse("Sun, 06 Nov 1994 08:49:37 GMT")          // 0s, because that is past
 * RetryAfter.parse("soon")                                   // null
 * ```
 */
public object RetryAfter {
    private const val DAY_NAME = "(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun)"
    private const val LONG_DAY_NAME = "(?:Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)day"
    private const val MONTH = "(?<month>Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)"
    private const val TIME = "(?<hour>[0-9]{2}):(?<minute>[0-9]{2}):(?<second>[0-9]{2})"

    /** The date of today's HTTP, that of RFC 850 and that of C's `asctime`, which recipients have to accept. */
    private val FORMATS =
        listOf(
            Regex("$DAY_NAME, (?<day>[0-9]{2}) $MONTH (?<year>[0-9]{4}) $TIME GMT"),
            Regex("$LONG_DAY_NAME, (?<day>[0-9]{2})-$MONTH-(?<year>[0-9]{2}) $TIME GMT"),
            Regex("$DAY_NAME $MONTH (?<day>[ 0-9][0-9]) $TIME (?<year>[0-9]{4})"),
        )
    private const val MONTHS = "JanFebMarAprMayJunJulAugSepOctNovDec"
    private const val LETTERS = 3
    private const val CENTURY = 100
    private const val TWO_DIGITS = 2
    private const val LEAP_SECOND = 60
    private const val FARTHEST_YEARS = 50L

    /**
     * The time that the header [value] asks to wait, in whole milliseconds, rounded up: seconds, or a date in one of
     * HTTP's three formats, seen from [clock]. The default locale and time zone do not count.
     *
     * Returns null for no header and for one that is neither; zero for a date in the past. More digits than a number of
     * seconds can have are an infinite time.
     */
    public fun parse(value: String?, clock: InstantSource = InstantSource.system()): Duration? {
        val text = value?.trim(' ', '\t')
        if (text.isNullOrEmpty()) return null
        if (text.all { it in '0'..'9' }) return text.toLongOrNull()?.seconds ?: Duration.INFINITE
        val match = FORMATS.firstNotNullOfOrNull { it.matchEntire(text) } ?: return null
        val now = clock.instant()
        val date = dateOf(match, now) ?: return null
        return wholeMillisOf(java.time.Duration.between(now, date).toKotlinDuration())
    }

    private fun dateOf(match: MatchResult, now: Instant): Instant? =
        try {
            val year = match.number("year")
            val date = dateOf(match, year)
            if (match.groups["year"]?.value?.length != TWO_DIGITS) date else nearest(match, year, now)
        } catch (_: DateTimeException) { // such as the 31st of February
            null
        }

    /** The latest year with these two digits whose date is not more than 50 years from now. */
    private fun nearest(match: MatchResult, digits: Int, now: Instant): Instant? {
        val farthest = LocalDateTime.ofInstant(now, ZoneOffset.UTC).plusYears(FARTHEST_YEARS)
        val century = Math.floorDiv(farthest.year, CENTURY) * CENTURY
        val date = dateOf(match, century + digits)
        if (date <= farthest.toInstant(ZoneOffset.UTC)) return date
        return dateOf(match, century - CENTURY + digits)
    }

    private fun dateOf(match: MatchResult, year: Int): Instant {
        val second = match.number("second")
        val isLeap = second == LEAP_SECOND
        return LocalDateTime.of(
                year,
                MONTHS.indexOf(match.groups["month"]!!.value) / LETTERS + 1,
                match.number("day"),
                match.number("hour"),
                match.number("minute"),
                if (isLeap) second - 1 else second,
            )
            .plusSeconds(if (isLeap) 1 else 0)
            .toInstant(ZoneOffset.UTC)
    }

    private fun MatchResult.number(name: String) = groups[name]!!.value.trim().toInt()
}
