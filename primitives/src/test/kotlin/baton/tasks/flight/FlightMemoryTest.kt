package baton.tasks.flight

import baton.tasks.SingleFlight
import java.lang.ref.WeakReference
import kotlin.coroutines.coroutineContext
import kotlin.time.Duration
import kotlin.time.Duration.Companion.seconds
import kotlinx.coroutines.CompletableDeferred
import kotlinx.coroutines.CoroutineScope
import kotlinx.coroutines.Job
import kotlinx.coroutines.SupervisorJob
import kotlinx.coroutines.awaitCancellation
import kotlinx.coroutines.cancel
import kotlinx.coroutines.delay
import kotlinx.coroutines.launch
import kotlinx.coroutines.test.runTest
import org.junit.jupiter.api.Assertions.assertNull
import org.junit.jupiter.api.Test

class FlightMemoryTest {
    private val flight = SingleFlight<Int, ByteArray>()
    private val background = CoroutineScope(SupervisorJob())
    private val last = CompletableDeferred<Unit>()
    private val values = ArrayList<WeakReference<ByteArray>>()

    /** The context of each run referred to the run before it, and so to its value. */
    @Test
    fun runsThatBeginAfterEachOther_doNotKeepTheValuesOfEndedOnes() = runTest { assertFirstIsFree(pause = 2.seconds) }

    @Test
    fun runsThatBeginInsideEachOther_doNotKeepTheValuesOfEndedOnes() = runTest { assertFirstIsFree(pause = 1.seconds) }

    private suspend fun assertFirstIsFree(pause: Duration) {
        flight.run(0) { load(it, pause) }
        last.await()
        delay(2.seconds)
        val first = values.first()
        for (i in 1..50) {
            if (first.get() == null) break
            System.gc()
            Thread.yield()
        }
        background.cancel()
        assertNull(first.get(), "the value of an ended run is in memory")
    }

    /** The load starts a coroutine that outlasts it, in its context. That begins the next run after the [pause]. */
    private suspend fun load(number: Int, pause: Duration): ByteArray {
        if (number == LAST) last.complete(Unit).also { awaitCancellation() }
        background.launch(coroutineContext.minusKey(Job)) {
            delay(pause)
            flight.run(number + 1) { load(it, pause) }
        }
        delay(1.5.seconds)
        return ByteArray(1).also { values += WeakReference(it) }
    }

    private companion object {
        const val LAST = 4
    }
}
