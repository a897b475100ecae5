package baton.waiting

import baton.waiting.threads.StallWatch
import java.util.concurrent.CountDownLatch
import java.util.concurrent.TimeUnit.SECONDS
import java.util.concurrent.atomic.AtomicInteger
import java.util.concurrent.atomic.AtomicReference
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertFalse
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.api.Test

class StallWatchTest {
    private val reached = AtomicReference<Int>()
    private val stalled = CountDownLatch(2)
    private val stalls = AtomicInteger()
    private val idle = AtomicInteger()

    /** Each look finds that the work has gone on, if so. */
    @Volatile private var goesOn = false
    private val looks = CountDownLatch(10)

    private val watch =
        object : StallWatch<Int>(millis = 5) {
            override fun progress(): Int? {
                looks.countDown()
                return if (goesOn) reached.updateAndGet { it?.plus(1) } else reached.get()
            }

            override fun onStall(progress: Int) {
                stalls.incrementAndGet()
                stalled.countDown()
            }

            override fun onIdle() {
                idle.incrementAndGet()
            }
        }

    private fun endWork() {
        reached.set(null)
        val deadline = System.nanoTime() + SECONDS.toNanos(60)
        while (watch.isActive && System.nanoTime() < deadline) Thread.sleep(1)
        assertFalse(watch.isActive)
    }

    @Test
    fun work_thatStands_isReportedAtEachLook() {
        reached.set(1)
        watch.begin(1)
        assertTrue(stalled.await(60, SECONDS))
        assertTrue(watch.isActive)
        endWork()
    }

    @Test
    fun work_thatGoesOn_isNotReported() {
        goesOn = true
        reached.set(1)
        watch.begin(1)
        assertTrue(looks.await(60, SECONDS))
        endWork()
        assertEquals(0, stalls.get())
    }

    @Test
    fun watch_whoseWorkHasEnded_endsByItself_andBeginsAgain() {
        repeat(3) { round ->
            reached.set(1)
            watch.begin()
            assertTrue(watch.isActive)
            endWork()
            assertEquals(round + 1, idle.get())
        }
    }
}
