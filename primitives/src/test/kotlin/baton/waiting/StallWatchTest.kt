package baton.waiting

import baton.reportingTo
import baton.waiting.threads.StallWatch
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertFalse
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.api.Test
import org.junit.jupiter.params.ParameterizedTest
import org.junit.jupiter.params.provider.EnumSource

class StallWatchTest {
    /** How far the work has come; null if there is none. */
    private var reached: Int? = null

    /** The looks that are due, each with its time. */
    private val due = ArrayDeque<Pair<Long, Runnable>>()
    private val stalls = mutableListOf<Int>()
    private var idle = 0
    private var atStall = NOTHING
    private var atIdle = NOTHING
    private var hasTimerThread = true

    private val watch =
        object : StallWatch<Int>(millis = 5) {
            override fun progress() = reached

            override fun onStall(progress: Int) {
                stalls += progress
                atStall()
            }

            override fun onIdle() {
                idle++
                atIdle()
            }

            override fun schedule(millis: Long, look: Runnable) {
                if (!hasTimerThread) throw OutOfMemoryError("no thread")
                due += millis to look
            }
        }

    private fun begin() {
        reached = 1
        watch.begin(1)
    }

    private fun look(after: Long = 5) {
        val (millis, look) = due.removeFirst()
        assertEquals(after, millis)
        look.run()
    }

    private fun assertEnded() {
        assertFalse(watch.isActive)
        assertEquals(0, due.size)
    }

    @Test
    fun work_thatStands_isReportedAtEachLook() {
        begin()
        repeat(3) { look() }
        assertEquals(listOf(1, 1, 1), stalls)
        assertTrue(watch.isActive)
    }

    @Test
    fun work_thatGoesOn_isNotReported() {
        begin()
        for (step in 2..10) {
            reached = step
            look()
        }
        assertEquals(emptyList<Int>(), stalls)
        look()
        assertEquals(listOf(10), stalls)
    }

    @Test
    fun work_whoseProgressTheFirstLookSees_isReportedAtTheSecond() {
        reached = 1
        watch.begin()
        look()
        assertEquals(emptyList<Int>(), stalls)
        look()
        assertEquals(listOf(1), stalls)
    }

    @Test
    fun watch_whoseWorkHasEnded_endsByItself_andBeginsAgain() {
        repeat(3) { round ->
            begin()
            assertTrue(watch.isActive)
            reached = null
            look()
            assertEquals(round + 1, idle)
            assertEnded()
        }
    }

    @Test
    fun watch_whoseReportEndsTheWork_endsAtOnce() {
        atStall = { reached = null }
        begin()
        look()
        assertEquals(1, idle)
        assertEnded()
    }

    @Test
    fun begin_asTheWatchEnds_isNotForgotten() {
        atIdle = { begin() }
        begin()
        reached = null
        look()
        assertTrue(watch.isActive)
        assertEquals(1, due.size)
        look()
        assertEquals(listOf(1), stalls)
    }

    @Test
    fun begin_twice_looksOnce() {
        begin()
        begin()
        assertEquals(1, due.size)
    }

    @Test
    fun timer_withoutThread_isTriedAgainByTheNextBegin() {
        hasTimerThread = false
        val reported = ArrayList<Throwable>()
        reportingTo(reported) {
            repeat(100) {
                begin()
                assertEnded()
            }
        }
        assertEquals(listOf("no thread"), reported.map { it.message })
        hasTimerThread = true
        begin()
        look()
        assertEquals(listOf(1), stalls)
    }

    @ParameterizedTest
    @EnumSource
    fun look_thatFails_isReported_andAnotherFollowsAfterASecond(inner: InnerFailure) {
        val failure = inner.create()
        for (fail in listOf<() -> Unit>({ atStall = { throw failure } }, { atIdle = { throw failure } })) {
            fail()
            begin()
            if (due.size == 1 && atIdle !== NOTHING) reached = null
            val reported = ArrayList<Throwable>()
            reportingTo(reported) { look() }
            assertEquals(listOf(failure), reported)
            assertTrue(watch.isActive)
            atStall = NOTHING
            atIdle = NOTHING
            reached = null
            look(after = 1_000)
            assertEnded()
        }
    }

    private companion object {
        val NOTHING = {}
    }
}
