@file:JvmName("Durations")

package baton.bridge

import baton.InternalBatonApi
import java.time.Duration
import kotlin.math.absoluteValue
import kotlin.time.Duration.Companion.days
import kotlin.time.toJavaDuration
import kotlin.time.toKotlinDuration

/**
 * The text of [time] in messages, in the format of Kotlin's `Duration`: `50ms`, `1h 30m`, `-(2m 5s)`. Kotlin's own
 * rounds beyond 146 years, and is infinite beyond 146 million years. This one is exact for each [time].
 */
@InternalBatonApi
public fun textOf(time: Duration): String {
    val kotlinTime = time.toKotlinDuration()
    return if (kotlinTime.isFinite() && kotlinTime.toJavaDuration() == time) kotlinTime.toString()
    else textOfYears(time)
}

private fun textOfYears(time: Duration): String {
    var days = time.toDays()
    var rest = time.minusDays(days)
    // The nanoseconds of a Duration count upwards, those of a negative one too.
    if (days < 0 && rest > Duration.ZERO) {
        days++
        rest = rest.minusDays(1)
    }
    // One day more, so that the hours and minutes of zero that a text with days shows are there.
    val text = "${days.absoluteValue}" + (rest.abs().toKotlinDuration() + 1.days).toString().removePrefix("1")
    return if (days >= 0) text else if (' ' in text) "-($text)" else "-$text"
}
