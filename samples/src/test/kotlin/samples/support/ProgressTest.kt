package samples.support

import java.io.ByteArrayOutputStream
import java.io.PrintStream
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Test

class ProgressTest {
    private val written = ByteArrayOutputStream()
    private val out = PrintStream(written, true)

    @Test
    fun terminal_showsALineInPlace_overwritesALongerOne_erasesIt() {
        val progress = Progress(out, true)

        progress.show(true) { "10 of 10" }
        progress.show(true) { "done" }
        progress.clear()

        assertEquals("\r10 of 10" + "\rdone    " + "\r    \r", written.toString())
    }

    @Test
    fun log_showsNothing() {
        val progress = Progress(out, false)

        progress.show(true) { "10 of 10" }
        progress.clear()

        assertEquals("", written.toString())
    }
}
