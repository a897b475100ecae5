package samples

import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.api.Test
import org.junit.jupiter.api.Timeout
import org.junit.jupiter.api.Timeout.ThreadMode.SEPARATE_THREAD

/** It starts four JVMs a run. */
@Timeout(600, threadMode = SEPARATE_THREAD)
class SharedUplinkTest {
    private val sample: Sample = SharedUplink::run

    @Test
    fun main_refusesNoRequest_tellsTheStoppedJvm() {
        val outcome = Twin.KOTLIN.start("SharedUplink", "--requests", "90").outcome(seconds = 580)

        assertEquals("", outcome.err)
        assertTrue(outcome.out.startsWith("4 JVMs share 5 permits in a file of H2\n"), outcome.out)
        assertEquals(0, outcome.count("refused"), outcome.out)
        assertTrue(outcome.count("served") >= 90, outcome.out)
        assertTrue(outcome.count("permits lost and told") >= 3, outcome.out)
        assertTrue("JVM 3 is told: the lease of Semaphore 'uplink' of Cluster 'JVM 3' was lost" in outcome.out)
        assertEquals(listOf("JVM 1", "JVM 2", "JVM 3", "JVM 4", "all"), rows(outcome).map { it.first })
        assertTrue('x' in rows(outcome)[1].second && '=' in rows(outcome)[2].second, outcome.out)
        assertTrue(rows(outcome).all { (_, slices) -> slices.none { it in '6'..'9' } }, outcome.out)
        assertEquals(0, outcome.exitCode)
    }

    private fun Outcome.count(label: String): Int =
        checkNotNull(Regex("^  $label +(\\d+)$", RegexOption.MULTILINE).find(out)) { out }.groupValues[1].toInt()

    private fun rows(outcome: Outcome): List<Pair<String, String>> =
        Regex("^  (JVM \\d|all) +([.x=0-9]+)$", RegexOption.MULTILINE)
            .findAll(outcome.out)
            .map { it.groupValues[1] to it.groupValues[2] }
            .toList()

    @Test
    fun store_thatCannotBeReached_isReportedWithoutItsPassword_exits1() {
        val outcome = sample.runHere("--store", "jdbc:postgresql://localhost:1/x?user=me&password=hidden-word")

        assertTrue(outcome.err.startsWith("cannot share the uplink: "), outcome.err)
        assertTrue("hidden-word" !in outcome.err + outcome.out, outcome.err)
        assertEquals(1, outcome.exitCode)
    }

    @Test
    fun main_wrongUsage_printsOneLine_exits2() {
        assertEquals("--store needs a value, see --help", sample.refusal("--store"))
        assertEquals(
            "--store must begin with jdbc:postgresql:, jdbc:h2: or redis://, not 'mongodb:...'",
            sample.refusal("--store", "mongodb://me:secret@there"),
        )
        assertEquals("--requests must be a whole number from 1 to 100000, not '0'", sample.refusal("--requests", "0"))
        sample.assertHelpNames(listOf("--store", "--requests"), "--requests", "0")
    }
}
