package baton.waiting

import baton.reportingTo
import java.util.concurrent.CompletableFuture
import java.util.concurrent.TimeUnit.SECONDS
import java.util.concurrent.atomic.AtomicInteger
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.params.ParameterizedTest
import org.junit.jupiter.params.provider.EnumSource

class WakeupFailureTest {
    private class Failing(private val failures: Int, private val failure: Throwable) : Wakeup() {
        private val tries = AtomicInteger()
        val arrived = CompletableFuture<Int>()

        override fun arrive(): Wakeup? {
            val mine = tries.incrementAndGet()
            if (mine <= failures) throw failure
            arrived.complete(mine)
            return null
        }
    }

    /** The first repetition follows at once, the others after 2, 4, 8 and 16 ms: no loop that takes all the time. */
    @ParameterizedTest
    @EnumSource
    fun wakeUp_thatFails_isReportedOnce_andRepeatedAfterPauses(inner: InnerFailure) = repeats(inner)

    @ParameterizedTest
    @EnumSource
    fun wakeUp_thatFailsWhereNoTimerCanBeSet_isRepeatedAfterPauses(inner: InnerFailure) =
        NoTimerThread.during { repeats(inner) }

    private fun repeats(inner: InnerFailure) {
        val failure = inner.create()
        val entry = Failing(5, failure)
        val next = Failing(0, failure)
        entry.chain = next
        val reported = ArrayList<Throwable>()
        val start = System.nanoTime()
        reportingTo(reported) { wakeAll(entry) }
        assertEquals(1, next.arrived.getNow(0))
        assertEquals(6, entry.arrived.get(120, SECONDS))
        assertTrue(System.nanoTime() - start >= 30_000_000)
        assertEquals(listOf(failure), reported)
    }
}
