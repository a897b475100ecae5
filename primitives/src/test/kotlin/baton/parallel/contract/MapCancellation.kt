package baton.parallel.contract

import kotlin.coroutines.cancellation.CancellationException
import kotlinx.coroutines.CompletableDeferred
import kotlinx.coroutines.NonCancellable
import kotlinx.coroutines.async
import kotlinx.coroutines.cancel
import kotlinx.coroutines.cancelAndJoin
import kotlinx.coroutines.delay
import kotlinx.coroutines.launch
import kotlinx.coroutines.withContext
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.api.Test

/** Calls whose caller is cancelled. */
interface MapCancellation : MapFixture {
    fun calls(scene: MapScene, transform: suspend (Int) -> Unit): List<suspend () -> Any> =
        with(scene) {
            listOf(
                { mapLimit(numbers, 3) { work { transform(it) } } },
                { mapSettled(numbers, 3, maxFailures = 1) { work { transform(it) } } },
                { forEachLimit(numbers, 3) { work { transform(it) } } },
            )
        }

    @Test
    fun call_callerIsCancelled_endsAfterWhatRuns() = scene {
        val calls = calls(this) { withContext(NonCancellable) { delay(100) } }
        for (call in calls) {
            val begun = now
            val job = test.launch { call() }
            delay(50)
            val startedThen = started
            job.cancelAndJoin()
            assertEquals(100, now - begun)
            assertEquals(startedThen, started)
            assertAllEnded()
        }
    }

    @Test
    fun call_callerIsCancelled_cancelsWhatRuns() = scene {
        for (call in calls(this) { delay(1_000) }) {
            val begun = now
            val job = test.launch { call() }
            delay(50)
            job.cancelAndJoin()
            assertEquals(50, now - begun)
            assertAllEnded()
        }
    }

    @Test
    fun call_callerIsCancelledAlready_pullsNothing() = scene {
        for (call in calls(this) {}) {
            val job =
                test.launch {
                    cancel()
                    call()
                }
            job.join()
            assertTrue(job.isCancelled)
        }
        assertEquals(0, started)
        assertEquals(0, pulled)
    }

    /** The task that the transform awaits is cancelled, and the caller is not. */
    @Test
    fun mapLimit_awaitsACancelledDeferred_fails() = scene {
        val other = CompletableDeferred<Int>().also { it.cancel(CancellationException("other")) }
        val call = test.async { runCatching { mapLimit(numbers, 2) { other.await() } } }
        val thrown = call.await().exceptionOrNull()
        assertTrue(thrown is CancellationException) { "$thrown" }
        assertEquals("other", thrown?.message)
    }
}
