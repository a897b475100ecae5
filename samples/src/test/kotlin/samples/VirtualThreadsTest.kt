package samples

import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Tag
import org.junit.jupiter.api.Test
import org.junit.jupiter.api.Timeout

@Tag("jdk")
@Timeout(300)
class VirtualThreadsTest {
    private val sample: Sample = samples.java.VirtualThreads::run

    @Test
    fun run_losesNothing_orSaysThatItNeedsANewerJdk() {
        val feature = Runtime.version().feature()
        val output =
            if (feature < 21) "virtual threads need JDK 21 or newer, this is JDK $feature\n"
            else
                """
                10,000 virtual threads, 50 requests at a time
                  interrupted while they waited: 1000
                  gave up after 300 ms: 1000
                  answered: 8000, refused with 429: 0, failed: 0
                  requests at a time: never more than 50
                  permits at the end: 50, waiting: 0

                """
                    .trimIndent()
        val outcome = sample.runHere()
        assertEquals("", outcome.err)
        assertEquals(output, outcome.out)
        assertEquals(0, outcome.exitCode)
    }
}
