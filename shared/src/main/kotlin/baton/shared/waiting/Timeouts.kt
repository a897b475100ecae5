package baton.shared.waiting

import kotlin.time.Duration
import kotlinx.coroutines.withTimeoutOrNull

/** The result of [take] within [timeout]; null otherwise. A result that comes too late is closed. */
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
