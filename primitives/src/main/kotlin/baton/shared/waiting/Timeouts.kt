package baton.shared.waiting

import baton.waiting.Parking
import java.time.Duration as JavaDuration
import kotlin.time.Duration
import kotlinx.coroutines.withTimeoutOrNull

/** What [take] returns within [timeout]; null otherwise, and what it took too late is closed. */
internal suspend fun <T : AutoCloseable> orNullAfter(timeout: Duration, take: suspend () -> T): T? {
    var taken: T? = null
    try {
        withTimeoutOrNull(timeout) { taken = take() }
    } catch (e: Throwable) {
        taken?.close()
        throw e
    }
    return taken
}

internal fun nanosOf(timeout: JavaDuration): Long =
    try {
        timeout.toNanos()
    } catch (_: ArithmeticException) {
        if (timeout.isNegative) 0 else Parking.FOREVER
    }
