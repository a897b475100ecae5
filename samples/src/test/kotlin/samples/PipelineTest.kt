package samples

import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Timeout
import org.junit.jupiter.api.Timeout.ThreadMode.SEPARATE_THREAD
import org.junit.jupiter.params.ParameterizedTest
import org.junit.jupiter.params.provider.EnumSource

@Timeout(60, threadMode = SEPARATE_THREAD)
class PipelineTest {
    @ParameterizedTest
    @EnumSource
    fun pagesInMemory_stayWithinTheBound_aStopLeavesNothing_everyTime(twin: Twin) {
        repeat(5) {
            val outcome = twin.pipeline.runHere()

            assertEquals("", outcome.err)
            assertEquals(EXPECTED, outcome.out)
            assertEquals(0, outcome.exitCode)
        }
    }

    @ParameterizedTest
    @EnumSource
    fun main_endsByItself(twin: Twin) {
        val outcome = twin.start("Pipeline").outcome()

        assertEquals("", outcome.err)
        assertEquals(0, outcome.exitCode)
    }

    @ParameterizedTest
    @EnumSource
    fun main_withAnArgument_printsOneLine_exits2(twin: Twin) {
        val outcome = twin.pipeline.runHere("--pages")

        assertEquals("this sample has no options, not even '--pages'\n", outcome.err)
        assertEquals("", outcome.out)
        assertEquals(2, outcome.exitCode)
    }

    private companion object {
        val EXPECTED =
            """
            All pages
              asked for: 100 pages, and got 100
              aggregated: 100 pages with 5050 words
              thrown away: 0 by the channel, 0 by fetchers that could not send
              lost or doubled: 0
              most pages in memory: 8, with a bound of 8
              left over: 0 requests, 0 waiters, 0 exchanges

            Stopped after 30 pages
              asked for: 37 pages, and got 36
              aggregated: 30 pages
              thrown away: 4 by the channel, 2 by fetchers that could not send
              lost or doubled: 0
              most pages in memory: 8, with a bound of 8
              left over: 0 requests, 0 waiters, 0 exchanges


            """.trimIndent()
    }
}
