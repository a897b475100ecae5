package baton

import kotlin.time.Duration
import kotlin.time.Duration.Companion.milliseconds
import kotlin.time.Duration.Companion.nanoseconds

/** The timeouts that mean "now or not at all": `deadline - now` is negative just when the system is late. */
val NOW_OR_NEVER = listOf(-Duration.INFINITE, (-50).milliseconds, (-1).nanoseconds, Duration.ZERO)
