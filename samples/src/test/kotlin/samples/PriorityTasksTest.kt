package samples

import baton.Priority
import java.nio.file.Files
import java.nio.file.Path
import javax.xml.parsers.DocumentBuilderFactory
import org.junit.jupiter.api.AfterAll
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertFalse
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.api.Assertions.fail
import org.junit.jupiter.api.Assumptions.assumeFalse
import org.junit.jupiter.api.BeforeAll
import org.junit.jupiter.api.Timeout
import org.junit.jupiter.api.Timeout.ThreadMode.SEPARATE_THREAD
import org.junit.jupiter.api.io.TempDir
import org.junit.jupiter.params.ParameterizedTest
import org.junit.jupiter.params.provider.Arguments
import org.junit.jupiter.params.provider.EnumSource
import org.junit.jupiter.params.provider.MethodSource
import org.w3c.dom.Element

@Timeout(300, threadMode = SEPARATE_THREAD)
class PriorityTasksTest {
    @TempDir lateinit var directory: Path

    private val svg: Path
        get() = directory.resolve("timeline.svg")

    @ParameterizedTest
    @EnumSource
    fun urgentJobs_runBehindTheBacklogWithoutPriorities_aheadOfItWithThem(twin: Twin) {
        val outcome = twin.run("--jobs", "60", "--concurrency", "2", "--delay", "10")

        assertEquals("", outcome.err)
        assertEquals(0, outcome.exitCode)
        assertFalse('\r' in outcome.out, "no progress line in a log")
        val (without, with) = outcome.tables()
        assertEquals("Without priorities, first come, first served", without.title)
        assertEquals("With priorities", with.title)
        for (table in listOf(without, with)) {
            assertEquals(Priority.entries.map { it.name }, table.rows.map { it.level })
            assertEquals(listOf(3, 9, 16, 16, 16), table.rows.map { it.jobs })
            assertEquals(listOf(3, 9, 16, 16, 16), table.rows.map { it.run })
        }
        assertTrue(with.meanWait("CRITICAL") < without.meanWait("CRITICAL"), outcome.out)
        assertTrue(with.meanWait("CRITICAL") < with.meanWait("IDLE"), outcome.out)
        val (now, before) = VERDICT.find(outcome.out)?.destructured ?: fail(outcome.out)
        assertEquals(with.meanWait("CRITICAL"), now.toDouble())
        assertEquals(without.meanWait("CRITICAL"), before.toDouble())
        assertTrue(outcome.out.endsWith("\nTimeline: $svg\n"), outcome.out)
    }

    @ParameterizedTest
    @EnumSource
    fun timeline_showsEveryJobOfBothRuns_urgentJobsWaitForFewStarts(twin: Twin) {
        twin.run("--jobs", "60", "--concurrency", "2", "--delay", "2")

        val (without, with) = timeline()
        for (bars in listOf(without, with)) {
            assertEquals(mapOf("CRITICAL" to 3, "HIGH" to 9, "NORMAL" to 16, "LOW" to 16, "IDLE" to 16), bars.levels())
            assertTrue(bars.all { it.started >= it.scheduled && it.ended >= it.started })
            assertTrue(bars.all { bar -> bars.count { bar.started >= it.started && bar.started < it.ended } <= 2 })
            assertTrue(bars.zipWithNext().all { (one, next) -> one.started <= next.started })
        }
        assertTrue(with.passedBy("CRITICAL") < without.passedBy("CRITICAL") / 3)
        assertTrue(with.passedBy("CRITICAL") < with.passedBy("IDLE") / 3)
    }

    @ParameterizedTest
    @EnumSource
    fun concurrencyOfOne_isFirstComeFirstServed_overallWithoutPriorities_inALevelWithThem(twin: Twin) {
        twin.run("--jobs", "20", "--concurrency", "1", "--delay", "1")

        val (without, with) = timeline()
        assertEquals(without.sortedBy { it.scheduled }, without)
        for (level in with.groupBy { it.level }.values) assertEquals(level.sortedBy { it.scheduled }, level)
        assertTrue(with.zipWithNext().all { (one, next) -> one.ended <= next.started })
    }

    @ParameterizedTest
    @EnumSource
    fun leastNumberOfJobs_isOneOfEveryLevel(twin: Twin) {
        val outcome = twin.run("--jobs", "5", "--concurrency", "1", "--delay", "1")

        assertEquals(0, outcome.exitCode)
        for (bars in timeline()) assertEquals(Priority.entries.associate { it.name to 1 }, bars.levels())
    }

    @ParameterizedTest
    @EnumSource
    fun server_diesHalfWay_stopsAll_accountsForEveryJob_leavesNoThread(twin: Twin) {
        val before = Thread.getAllStackTraces().keys

        val outcome = twin.run("--jobs", "100", "--delay", "1", "--fail-after", "40")

        val table = outcome.tables().single()
        assertEquals(listOf(5, 15, 26, 27, 27), table.rows.map { it.jobs })
        assertEquals(40, table.rows.sumOf { it.run })
        val (failed, notRun) = SHORTFALL.matchEntire(outcome.err)?.destructured ?: fail(outcome.err)
        assertEquals(60, failed.toInt() + notRun.toInt())
        assertEquals(1, outcome.exitCode)
        assertFalse(Files.exists(svg))
        assertNoThreadLeft(before)
    }

    @ParameterizedTest
    @EnumSource
    fun main_endsByItself_writesTheTimelineWhereTheHelpSays(twin: Twin) {
        val outcome = runs.getValue(twin).outcome()

        assertEquals("", outcome.err)
        assertEquals(0, outcome.exitCode)
        val file = here.resolve("$twin/target/priority-tasks.svg")
        assertTrue(outcome.out.endsWith("Timeline: ${file.toRealPath()}\n"), outcome.out)
        assertEquals(listOf(20, 20), timeline(file).map { it.size })
    }

    @ParameterizedTest
    @MethodSource("wrongUsage")
    fun main_wrongUsage_printsOneLine_exits2(twin: Twin, args: List<String>, message: String) {
        assertEquals(message, twin.priorityTasks.refusal(*args.toTypedArray()))
    }

    @ParameterizedTest
    @EnumSource
    fun timeline_notWritable_isReportedBeforeTheWork_exits2(twin: Twin) {
        val missing = directory.resolve("missing")
        val locked = Files.createFile(directory.resolve("locked.svg"))
        locked.toFile().setWritable(false)

        assertEquals(
            "$directory is a directory, not a file for the timeline",
            twin.priorityTasks.refusal("--svg", "$directory"),
        )
        assertEquals(
            "there is no directory $missing",
            twin.priorityTasks.refusal("--svg", "${missing.resolve("a.svg")}"),
        )
        assumeFalse(Files.isWritable(locked), "this user may write everything")
        assertEquals("may not write $locked", twin.priorityTasks.refusal("--svg", "$locked"))
    }

    @ParameterizedTest
    @EnumSource
    fun help_namesEveryOption_exits0(twin: Twin) =
        twin.priorityTasks.assertHelpNames(
            listOf("--jobs", "--concurrency", "--delay", "--fail-after", "--svg"),
            "--jobs",
            "0",
        )

    private fun Twin.run(vararg args: String): Outcome = priorityTasks.runHere(*args, "--svg", svg.toString())

    private fun timeline(file: Path = svg): List<List<Bar>> {
        val document = DocumentBuilderFactory.newInstance().newDocumentBuilder().parse(file.toFile())
        assertEquals("svg", document.documentElement.tagName)
        return document.documentElement.all("g").map { run ->
            run.all("rect").filter { it.getAttribute("class").startsWith("bar ") }.map { Bar.of(it) }
        }
    }

    /** A level in a table; the wait in milliseconds. */
    private class Row(val level: String, val jobs: Int, val run: Int, val meanWait: Double?)

    private class Table(val title: String, val rows: List<Row>) {
        fun meanWait(level: String): Double = rows.single { it.level == level }.meanWait ?: fail("no $level was run")
    }

    /** A job as it is drawn, with its times in milliseconds. */
    private data class Bar(val level: String, val scheduled: Double, val started: Double, val ended: Double) {
        companion object {
            fun of(rect: Element): Bar {
                val times = TIMES.findAll(rect.all("title").single().textContent).map { it.value.toDouble() }
                val (scheduled, started, ended) = times.toList()
                return Bar(rect.getAttribute("class").removePrefix("bar "), scheduled, started, ended)
            }
        }
    }

    companion object {
        private val VERDICT =
            Regex("CRITICAL waited .* times less with priorities: (.*) ms on average instead of (.*) ms")
        private val SHORTFALL =
            Regex(
                "incomplete: ran 40 of 100 jobs, ([1-3]) failed: .*Exception.*, (\\d+) not run any more; " +
                    "the run with priorities was not begun, and no timeline is written\n"
            )
        private val ROW = Regex("  ([A-Z]+) +[a-z ]+? +(\\d+) +(\\d+) +(-|[\\d.]+ ms) +(-|[\\d.]+ ms)")
        private val TIMES = Regex("[\\d.]+")

        /** Starting a JVM takes long, so the runs start before the tests and overlap with them. */
        private val runs = mutableMapOf<Twin, Process>()

        @TempDir @JvmStatic lateinit var here: Path

        @JvmStatic
        @BeforeAll
        fun startRuns() =
            Twin.entries.forEach {
                val directory = Files.createDirectory(here.resolve(it.name))
                runs[it] = it.start("PriorityTasks", "--jobs", "20", "--delay", "1", directory = directory)
            }

        @JvmStatic @AfterAll fun endRuns() = runs.values.forEach { it.destroyForcibly() }

        @JvmStatic
        fun wrongUsage(): List<Arguments> =
            forBoth(
                listOf("--jobs", "4") to "--jobs must be a whole number from 5 to 10000, not '4'",
                listOf("--jobs", "10001") to "--jobs must be a whole number from 5 to 10000, not '10001'",
                listOf("--jobs", "many") to "--jobs must be a whole number from 5 to 10000, not 'many'",
                listOf("--jobs") to "--jobs needs a value, see --help",
                listOf("--concurrency", "0") to "--concurrency must be a whole number from 1 to 100, not '0'",
                listOf("--concurrency", "101") to "--concurrency must be a whole number from 1 to 100, not '101'",
                listOf("--delay", "2.5") to "--delay must be a whole number from 1 to 1000, not '2.5'",
                listOf("--delay", "--jobs") to "--delay needs a value, see --help",
                listOf("--fail-after", "0") to "--fail-after must be a whole number from 1 to 2147483647, not '0'",
                listOf("--svg") to "--svg needs a value, see --help",
                listOf("--svg", "a\u0000b") to "--svg: no file can have the name 'a?b'",
                listOf("--jobs", "39", "--concurrency", "10") to
                    "too few jobs for a backlog: with --concurrency 10 there must be at least 40, not 39",
                listOf("--fast") to "unknown option '--fast', see --help",
                listOf("5") to "unknown option '5', see --help",
            )

        private fun Outcome.tables(): List<Table> =
            out.split("\n\n")
                .filter { "\n  level " in it }
                .map { table ->
                    val rows =
                        table
                            .lines()
                            .mapNotNull { ROW.matchEntire(it)?.destructured }
                            .map { (level, jobs, run, mean) ->
                                Row(level, jobs.toInt(), run.toInt(), mean.removeSuffix(" ms").toDoubleOrNull())
                            }
                    Table(table.lines().first(), rows)
                }

        private fun Element.all(tag: String): List<Element> =
            getElementsByTagName(tag).let { nodes -> List(nodes.length) { nodes.item(it) as Element } }

        private fun List<Bar>.levels(): Map<String, Int> = groupingBy { it.level }.eachCount()

        /** How many others were started, on average, while a job of this level waited. */
        private fun List<Bar>.passedBy(level: String): Double =
            filter { it.level == level }.map { job -> count { it.started in job.scheduled..<job.started } }.average()
    }
}
