package baton.waiting

import baton.reportingTo
import java.util.concurrent.CompletableFuture
import java.util.concurrent.TimeUnit.SECONDS
import java.util.concurrent.atomic.AtomicInteger
import kotlin.coroutines.CoroutineContext
import kotlinx.coroutines.CoroutineDispatcher
import kotlinx.coroutines.Runnable
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.params.ParameterizedTest
import org.junit.jupiter.params.provider.EnumSource
import org.junit.jupiter.params.provider.ValueSource

class WakeupFailureTest {
    private class Failing(private val failures: Int, private val failure: Throwable) : Wakeup() {
        val tries = AtomicInteger()
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

    /** Of a system that has neither a thread nor a timer left. */
    private class NoThread(private val queues: Boolean) : CoroutineDispatcher() {
        var queued: Runnable? = null

        override fun dispatch(context: CoroutineContext, block: Runnable) {
            if (queues) queued = block
            throw OutOfMemoryError("unable to create native thread")
        }
    }

    @ParameterizedTest
    @ValueSource(booleans = [false, true])
    fun wakeUp_thatFindsNoThreadAtAll_isHeard_andRepeatedOnceByTheNextDecision(queues: Boolean) {
        val failure = InnerFailure.NO_THREAD.create()
        val entry = Failing(2, failure)
        val elsewhere = NoThread(queues)
        val reported = ArrayList<Throwable>()
        NoTimerThread.during {
            reportingTo(reported) {
                Rewaking(entry, elsewhere).begin(failure)
                // It finds no thread either.
                wakeAll(Failing(0, failure))
            }
        }
        assertEquals(listOf(failure), reported)
        wakeAll(Failing(0, failure))
        assertEquals(3, entry.arrived.get(120, SECONDS))
        elsewhere.queued?.run()
        assertEquals(3, entry.tries.get())
    }
}
