package samples.support.uptime

import java.io.BufferedReader
import java.io.IOException
import org.junit.jupiter.api.Assertions.assertEquals

/** The server-sent events of [lines]: their names, and their data as JSON. */
internal class ServerEvents(private val lines: BufferedReader) {
    fun next(): Pair<String, Map<String, Any?>> = nextOrNull() ?: throw AssertionError("the stream has ended")

    /** Null at the end of the stream. */
    fun nextOrNull(): Pair<String, Map<String, Any?>>? {
        try {
            val event = lines.readLine() ?: return null
            val data = lines.readLine() ?: return null
            assertEquals("", lines.readLine())
            return event.removePrefix("event: ") to jsonOf(data.removePrefix("data: "))
        } catch (broken: IOException) {
            return null
        }
    }
}
