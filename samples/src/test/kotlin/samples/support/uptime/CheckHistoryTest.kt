package samples.support.uptime

import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Test
import samples.support.uptime.CheckHistory.State
import samples.support.uptime.CheckHistory.Verdict.CHANGED
import samples.support.uptime.CheckHistory.Verdict.UNCHANGED
import samples.support.uptime.CheckHistory.Verdict.UNCONFIRMED

class CheckHistoryTest {
    private val history = CheckHistory()

    @Test
    fun check_first_up_isNoChange() {
        assertEquals(State.UNKNOWN, history.state())

        assertEquals(UNCHANGED, history.add(true))

        assertEquals(State.UP, history.state())
        assertEquals(0, history.changes())
    }

    @Test
    fun check_first_down_isAChangeOnceConfirmed() {
        assertEquals(UNCONFIRMED, history.add(false))
        assertEquals(State.UNKNOWN, history.state())

        assertEquals(CHANGED, history.add(false))

        assertEquals(State.DOWN, history.state())
        assertEquals(1, history.changes())
    }

    @Test
    fun change_confirmed_isReportedOnce_eachWay() {
        val results = listOf(true, false, false, false, true, true, true, false, false)
        val verdicts = results.map { history.add(it) }

        assertEquals(
            listOf(UNCHANGED, UNCONFIRMED, CHANGED, UNCHANGED, UNCONFIRMED, CHANGED, UNCHANGED, UNCONFIRMED, CHANGED),
            verdicts,
        )
        assertEquals(3, history.changes())
    }

    @Test
    fun change_notConfirmed_isForgotten_andTheNextOneNeedsTwoChecksAgain() {
        history.add(true)

        assertEquals(UNCONFIRMED, history.add(false))
        assertEquals(UNCHANGED, history.add(true))
        assertEquals(UNCONFIRMED, history.add(false))
        assertEquals(State.UP, history.state())
        assertEquals(CHANGED, history.add(false))
        assertEquals(UNCONFIRMED, history.add(true))
        assertEquals(UNCHANGED, history.add(false))
        assertEquals(UNCONFIRMED, history.add(true))

        assertEquals(State.DOWN, history.state())
        assertEquals(1, history.changes())
    }
}
