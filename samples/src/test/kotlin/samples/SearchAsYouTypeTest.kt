package samples

import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Timeout
import org.junit.jupiter.api.Timeout.ThreadMode.SEPARATE_THREAD
import org.junit.jupiter.params.ParameterizedTest
import org.junit.jupiter.params.provider.EnumSource

@Timeout(60, threadMode = SEPARATE_THREAD)
class SearchAsYouTypeTest {
    @ParameterizedTest
    @EnumSource
    fun requests_exceptTheLast_areAborted_everyTime(twin: Twin) {
        repeat(20) {
            val outcome = twin.searchAsYouType.runHere()

            assertEquals("", outcome.err)
            assertEquals(EXPECTED, outcome.out)
            assertEquals(0, outcome.exitCode)
        }
    }

    @ParameterizedTest
    @EnumSource
    fun main_endsByItself(twin: Twin) {
        val outcome = twin.start("SearchAsYouType").outcome()

        assertEquals("", outcome.err)
        assertEquals(0, outcome.exitCode)
    }

    @ParameterizedTest
    @EnumSource
    fun main_withAnArgument_printsOneLine_exits2(twin: Twin) {
        val outcome = twin.searchAsYouType.runHere("baton")

        assertEquals("this sample has no options, not even 'baton'\n", outcome.err)
        assertEquals("", outcome.out)
        assertEquals(2, outcome.exitCode)
    }

    private companion object {
        val EXPECTED =
            """
            Typing 'baton'
              b: aborted
              ba: aborted
              bat: aborted
              bato: aborted
              baton: answered
              shown: a stick that is passed from hand to hand


            """.trimIndent()
    }
}
