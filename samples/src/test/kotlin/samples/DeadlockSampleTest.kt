package samples

import java.nio.file.Path
import kotlin.io.path.readText
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.api.Test
import org.junit.jupiter.params.ParameterizedTest
import org.junit.jupiter.params.provider.EnumSource

/** In a JVM of its own, where the sample sets the property before it is read. */
class DeadlockSampleTest {
    @ParameterizedTest
    @EnumSource
    fun report_namesBothTransfers_andAnOrderEndsTheDeadlocks(twin: Twin) {
        val outcome = twin.start("Deadlock").outcome(seconds = 120)
        assertEquals("", outcome.err)
        val kind =
            if (twin == Twin.KOTLIN) { name: String -> "coroutine '$name'" } else { name: String -> "owner $name" }
        for ((waiter, lock, holder) in listOf(Triple("rent", "bob", "refund"), Triple("refund", "alice", "rent"))) {
            val edge =
                Regex(
                    "    ${kind(waiter)} waits for Mutex '$lock' \\(for .*s\\), held by ${kind(holder)} \\(for .*s\\), taken at\\n +${twin.packageName}\\.Deadlock"
                )
            assertTrue(edge.containsMatchIn(outcome.out), outcome.out)
        }
        val rest =
            """
              the refund is cancelled, and the rent is paid: alice=70, bob=130

            With owners, in the order of the names
              ten of each are done: alice=70, bob=130
              from alice to alice: IllegalStateException: Mutex 'alice' is already locked by gift
              deadlocks: 0

            """
                .trimIndent()
        assertTrue(outcome.out.endsWith(rest), outcome.out)
        assertEquals(0, outcome.exitCode)
    }

    /** Times and the numbers of lines may differ, and a cycle has no first edge. */
    @Test
    fun picture_ofTheReport_showsThatOutput() {
        val svg = Path.of("../docs/deadlock-report.svg").readText()
        val shown =
            Regex("<text[^>]*>(.*)</text>").findAll(svg).map { it.groupValues[1].replace("&#x27;", "'") }.toList()
        val changing = Regex("[0-9.]+s\\)|:[0-9]+\\)")
        val printed = Twin.JAVA.start("Deadlock").outcome(seconds = 120).out.lines().filter { it.isNotEmpty() }
        assertEquals(
            unrolled(printed.map { it.replace(changing, ")") }),
            unrolled(shown.drop(1).map { it.replace(changing, ")") }),
        )
    }

    /** The lines, with the edges of the cycle in the order of their waiters. */
    private fun unrolled(lines: List<String>): List<String> {
        val starts = lines.indices.filter { lines[it].startsWith("    owner ") }
        assertEquals(2, starts.size, "$lines")
        val end = 2 * starts[1] - starts[0] // Both edges have as many lines.
        val edges = listOf(lines.subList(starts[0], starts[1]), lines.subList(starts[1], end))
        return lines.take(starts[0]) + edges.sortedBy { it.first() }.flatten() + lines.drop(end)
    }

    @ParameterizedTest
    @EnumSource
    fun arguments_areRefused(twin: Twin) {
        val outcome = twin.start("Deadlock", "--fast").outcome(seconds = 120)
        assertEquals("this sample has no options, not even '--fast'\n", outcome.err)
        assertEquals(2, outcome.exitCode)
    }
}
