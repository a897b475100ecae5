package samples.support

import java.io.ByteArrayOutputStream
import java.io.IOException
import java.io.PrintStream
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertFalse
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.api.Test
import org.junit.jupiter.params.ParameterizedTest
import org.junit.jupiter.params.provider.ValueSource

class TimesheetTest {
    private val written = ByteArrayOutputStream()
    private val sheet = Timesheet("title", Job.mix(10, true), PrintStream(written, true))

    private fun run(vararg numbers: Int) =
        numbers.forEach {
            start(it)
            sheet.ended(sheet.jobs()[it])
        }

    private fun start(number: Int) {
        sheet.scheduled(sheet.jobs()[number])
        sheet.started(sheet.jobs()[number])
    }

    @ParameterizedTest
    @ValueSource(ints = [5, 6, 19, 20, 21, 200, 9999, 10000])
    fun mix_beginsWithTheBacklog_urgentJobsComeWhileItIsQueued(jobs: Int) {
        val mix = Job.mix(jobs, true)

        val backlog = mix.takeWhile { it.after() == 0 && !it.kind().isUrgent }
        val urgent = mix.drop(backlog.size)
        assertEquals((0 until jobs).toList(), mix.map { it.number() })
        assertEquals(JobKind.entries.toSet(), mix.map { it.kind() }.toSet())
        assertTrue(urgent.all { it.kind().isUrgent })
        assertTrue(urgent.zipWithNext().all { (one, next) -> one.after() <= next.after() })
        assertEquals(backlog.size / 2, urgent.last().after())
        assertTrue(backlog.size >= jobs * 3 / 5)
    }

    @Test
    fun urgentJob_isDueOnceEnoughHaveEnded() {
        val due = sheet.due(sheet.jobs()[8])

        run(0)
        assertFalse(due.isDone)
        run(1)
        assertTrue(due.isDone)
        assertTrue(sheet.due(sheet.jobs()[8]).isDone)
        assertFalse(sheet.due(sheet.jobs()[9]).isDone)
    }

    @Test
    fun failure_makesAllJobsDue() {
        val due = sheet.due(sheet.jobs()[8])
        start(0)

        sheet.failed(sheet.jobs()[0], IOException("gone"))

        assertTrue(due.isDone)
        assertTrue(sheet.due(sheet.jobs()[9]).isDone)
        assertEquals("ran 0 of 10 jobs, 1 failed: 1 x IOException (gone), 9 not run any more", sheet.shortfall())
    }

    @Test
    fun concurrentJobs_haveDifferentSlots_theLowestFree() {
        start(0)
        start(1)
        sheet.ended(sheet.jobs()[0])
        run(2)
        sheet.ended(sheet.jobs()[1])

        assertEquals(listOf(0 to 0, 1 to 1, 2 to 0), sheet.runs().map { it.job().number() to it.slot() })
    }

    @Test
    fun level_withoutARun_hasNoWait() {
        run(0)

        sheet.print(PrintStream(written, true), 1)

        assertTrue(Regex("  CRITICAL +token refresh +1 +0 +- +-\\R").containsMatchIn(written.toString()), "$written")
        assertTrue(Regex("  IDLE +cache warming +\\d +1 +[\\d.]+ ms").containsMatchIn(written.toString()), "$written")
        assertFalse(sheet.isComplete)
    }
}
