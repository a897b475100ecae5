package baton.stack

import baton.hostile.ShallowStack
import baton.waiting.threads.HandOverExecutor
import baton.waiting.threads.Timeouts
import java.util.concurrent.CountDownLatch
import java.util.concurrent.TimeUnit
import kotlinx.coroutines.DisposableHandle
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.api.Test

/**
 * A timer is set or cancelled, or a callback is handed over, short of stack, at whatever depth. The locks of all timers
 * and callbacks, which are those of the JDK, are free afterwards.
 */
class ThreadsOverflowStackTest {
    private val timers = mutableListOf<DisposableHandle>()

    /** A field, because a setter would need stack. */
    private class Timer(@JvmField var handle: DisposableHandle? = null)

    private fun set() = Timeouts.schedule(DAY_MILLIS) {}.also { synchronized(timers) { timers += it } }

    private fun sweep(prepare: () -> Timer, operation: (Timer) -> Unit) {
        try {
            val overflows = ShallowStack.sweep(prepare, operation, SHIFTS) { assertRuns() }
            assertTrue(overflows > 0)
        } finally {
            synchronized(timers) { timers.forEach { it.dispose() } }
        }
    }

    /** A timer goes off, and hands its action over. */
    private fun assertRuns() {
        val ran = CountDownLatch(1)
        Timeouts.schedule(1) { ran.countDown() }
        assertTrue(ran.await(2, TimeUnit.MINUTES))
    }

    @Test
    fun timer_overflowWhileItIsSet_othersRun() =
        sweep({ Timer() }) {
            it.handle = Timeouts.schedule(DAY_MILLIS) {}
            it.handle!!.dispose()
        }

    @Test fun timer_overflowWhileItIsCancelled_othersRun() = sweep({ Timer(set()) }) { it.handle!!.dispose() }

    @Test fun callback_overflowWhileItIsHandedOver_othersRun() = sweep({ Timer() }) { HandOverExecutor.execute {} }

    private companion object {
        const val DAY_MILLIS = 24L * 60 * 60 * 1000
        const val SHIFTS = 4
    }
}
