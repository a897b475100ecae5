package baton.channels

import baton.reportingTo
import baton.waiting.Callers
import kotlinx.coroutines.selects.select
import kotlinx.coroutines.test.runCurrent
import kotlinx.coroutines.test.runTest
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertNull
import org.junit.jupiter.api.Assertions.assertSame
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.api.Test

/** `invokeOnClose`. */
class CloseHandlerTest {
    private val channel = Channel<Int>(1)
    private val why = ArithmeticException("why")
    private val calls = mutableListOf<Throwable?>()

    private val ends =
        listOf<(Channel<Int>) -> Throwable?>(
            {
                it.close()
                null
            },
            {
                it.close(why)
                why
            },
            {
                it.cancel()
                null
            },
            {
                it.cancel(why)
                why
            },
        )

    @Test
    fun handler_channelIsEndedTwice_isCalledOnceWithTheFirstCause() {
        for (end in ends) {
            val ended = Channel<Int>()
            calls.clear()
            ended.invokeOnClose { calls += it }
            assertEquals(0, calls.size)
            val cause = end(ended)
            for (again in ends) again(ended)
            assertEquals(listOf(cause), calls)
        }
    }

    @Test
    fun handler_channelIsClosedAlready_isCalledAtOnce() {
        for (end in ends) {
            val ended = Channel<Int>()
            val cause = end(ended)
            calls.clear()
            ended.invokeOnClose { calls += it }.dispose()
            for (again in ends) again(ended)
            assertEquals(listOf(cause), calls)
        }
    }

    @Test
    fun handlers_severalOfOneChannel_areCalledInOrderLessTheDisposed() {
        val called = mutableListOf<Int>()
        val handles = List(5) { i -> channel.invokeOnClose { called += i } }
        repeat(2) { handles[1].dispose() }
        channel.trySend(1)
        channel.close()
        handles[3].dispose()
        assertEquals(listOf(0, 2, 3, 4), called)
    }

    @Test
    fun handler_throws_isReportedAndTheOthersAreCalled() {
        val reported = mutableListOf<Throwable>()
        channel.invokeOnClose { throw why }
        channel.invokeOnClose { calls += it }
        reportingTo(reported) { assertTrue(channel.close()) }
        assertEquals(listOf<Throwable>(why), reported)
        assertEquals(1, calls.size)
    }

    @Test
    fun handler_usesTheChannel_meetsNoLockAndTheEndOfItsWaiters() = runTest {
        val rendezvous = Channel<Int>()
        val waiting =
            listOf(
                Callers(this).call { rendezvous.receiveOrNull() ?: 0 },
                Callers(this).call { select { rendezvous.onReceive { it } } },
            )
        lateinit var seen: List<Any>
        rendezvous.invokeOnClose {
            seen = listOf(rendezvous.isClosed, rendezvous.waiting, rendezvous.tryReceive().isClosed, rendezvous.close())
        }
        rendezvous.close()
        assertEquals(listOf<Any>(true, 0, true, false), seen)
        runCurrent()
        assertTrue(waiting.none { it.isWaiting })
    }

    @Test
    fun handler_isCalledByTheClosingThread() {
        lateinit var caller: Thread
        channel.invokeOnClose { caller = Thread.currentThread() }
        val closer = Thread { channel.close() }
        closer.start()
        closer.join()
        assertSame(closer, caller)
        channel.invokeOnClose { caller = Thread.currentThread() }
        assertSame(Thread.currentThread(), caller)
        assertNull(calls.firstOrNull())
    }
}
