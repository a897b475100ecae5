package samples

import baton.shared.SharedRegion
import java.nio.file.Files
import java.nio.file.Path
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertFalse
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.api.Test
import org.junit.jupiter.api.Timeout
import org.junit.jupiter.api.Timeout.ThreadMode.SEPARATE_THREAD
import org.junit.jupiter.params.ParameterizedTest
import org.junit.jupiter.params.provider.Arguments
import org.junit.jupiter.params.provider.EnumSource
import org.junit.jupiter.params.provider.MethodSource
import samples.support.Cli
import samples.support.CounterJob

/** It starts a dozen JVMs a run. */
@Timeout(600, threadMode = SEPARATE_THREAD)
class SharedCounterTest {
    private fun Outcome.assertNoFileLeft() {
        val region = Path.of(checkNotNull(Regex("  in (.+)").find(out)).groupValues[1])
        assertFalse(Files.exists(region.parent), "$region")
    }

    @ParameterizedTest
    @EnumSource
    fun main_losesNothingWithTheLock_endsByItself(twin: Twin) {
        val outcome = twin.start("SharedCounter").outcome(seconds = 580)

        assertEquals("", outcome.err)
        assertTrue(outcome.out.startsWith("4 processes add 1 to a counter, 200 times each\n"), outcome.out)
        val (locked, abandoned, unlocked) = outcome.tables().drop(1)
        val all = mapOf("expected" to 800, "counted" to 800, "missing" to 0)
        assertEquals(all, locked)
        assertEquals(all + mapOf("killed" to 1, "told of the death" to 1), abandoned)
        assertEquals(800, unlocked.getValue("counted") + unlocked.getValue("missing"))
        assertTrue(unlocked.getValue("missing") > 0, outcome.out)
        assertEquals(0, outcome.exitCode)
        outcome.assertNoFileLeft()
    }

    @ParameterizedTest
    @EnumSource
    fun increment_single_isRepaired_whenItsProcessIsKilled(twin: Twin) {
        val outcome = twin.sharedCounter.runHere("--processes", "2", "--increments", "1")

        assertEquals("", outcome.err)
        val abandoned = outcome.tables()[2]
        assertEquals(2, abandoned["counted"])
        assertEquals(1, abandoned["told of the death"])
        assertEquals(0, outcome.exitCode)
        outcome.assertNoFileLeft()
    }

    /** A worker that does not lock, and has nothing to repair. */
    private object Careless {
        private fun work(job: CounterJob) {
            SharedRegion.open(job.file).use { region ->
                val sum = region.bytes(job.counter, Long.SIZE_BYTES)
                job.awaitStart("not at all")
                repeat(job.increments) { done ->
                    job.mayBeKilled(done)
                    sum.putLong(0, 1)
                }
            }
        }

        @JvmStatic fun main(args: Array<String>) = CounterJob.run(args, ::work)
    }

    @Test
    fun sum_wrong_exits1() {
        val careless: Sample = { args, out, err -> Cli.runCounter(args, out, err, Careless::class.java) }
        val outcome = careless.runHere("--processes", "2", "--increments", "3")

        assertEquals(5, outcome.tables()[1]["missing"], outcome.out)
        assertEquals(0, outcome.tables()[2]["told of the death"], outcome.out)
        assertEquals(1, outcome.exitCode)
        outcome.assertNoFileLeft()
    }

    private object Broken {
        @JvmStatic fun main(args: Array<String>) = CounterJob.run(args) { error("out of order") }
    }

    @Test
    fun process_thatFails_isReported_exits1() {
        val broken: Sample = { args, out, err -> Cli.runCounter(args, out, err, Broken::class.java) }
        val outcome = broken.runHere("--processes", "2")

        val reason = "a worker process says: java.lang.IllegalStateException: out of order"
        assertEquals("cannot count: $reason\n", outcome.err)
        assertEquals(1, outcome.exitCode)
        outcome.assertNoFileLeft()
    }

    @ParameterizedTest
    @MethodSource("wrongUsage")
    fun main_wrongUsage_printsOneLine_exits2(twin: Twin, args: List<String>, message: String) {
        assertEquals(message, twin.sharedCounter.refusal(*args.toTypedArray()))
    }

    @ParameterizedTest
    @EnumSource
    fun help_namesEveryOption_exits0(twin: Twin) =
        twin.sharedCounter.assertHelpNames(listOf("--processes", "--increments"), "--processes", "0")

    companion object {
        private const val WHOLE = "must be a whole number from"

        @JvmStatic
        fun wrongUsage(): List<Arguments> =
            forBoth(
                listOf("--processes", "1") to "--processes $WHOLE 2 to 32, not '1'",
                listOf("--processes", "33") to "--processes $WHOLE 2 to 32, not '33'",
                listOf("--increments", "0") to "--increments $WHOLE 1 to 10000, not '0'",
                listOf("--increments", "10001") to "--increments $WHOLE 1 to 10000, not '10001'",
                listOf("--increments") to "--increments needs a value, see --help",
                listOf("200") to "unknown option '200', see --help",
            )
    }
}
