package guide.troubleshooting

import java.nio.file.Files
import java.nio.file.Path
import java.util.stream.Stream
import kotlinx.coroutines.runBlocking
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertNotNull
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.api.Assumptions.assumeTrue
import org.junit.jupiter.api.DynamicTest
import org.junit.jupiter.api.Test
import org.junit.jupiter.api.TestFactory
import org.junit.jupiter.api.io.TempDir

/** Each message of docs/troubleshooting.md is one that users get. */
class TroubleshootingTest {
    @TempDir lateinit var folder: Path

    private fun messages(): List<Message> =
        waitMessages() +
            lockMessages() +
            channelMessages() +
            boundMessages() +
            schedulerMessages(folder) +
            sharedMessages(folder)

    @TestFactory
    fun messages_ofThePage_areThrown(): Stream<DynamicTest> =
        messages().stream().map { message -> DynamicTest.dynamicTest("$message") { check(message) } }

    private fun check(message: Message) {
        if (message.shape.startsWith("no virtual threads")) assumeTrue(Runtime.version().feature() < 21)
        val failure = runBlocking { message.failure() }
        assertNotNull(failure, "nothing was thrown: $message")
        assertTrue(failure != null && message.fits(failure)) { "expected $message, got $failure" }
    }

    @Test
    fun rows_ofThePage_areAllProvoked() {
        val rows =
            Files.readAllLines(Path.of("../docs/troubleshooting.md")).mapNotNull { line ->
                Regex("\\| `(.+?)` \\| `(\\w+Exception)` \\|.*").matchEntire(line)?.run {
                    "${groupValues[2]}: ${groupValues[1]}"
                }
            }
        assertEquals(rows.sorted(), messages().map { "$it" }.sorted())
    }
}
