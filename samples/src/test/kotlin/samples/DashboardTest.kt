package samples

import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Timeout
import org.junit.jupiter.api.Timeout.ThreadMode.SEPARATE_THREAD
import org.junit.jupiter.params.ParameterizedTest
import org.junit.jupiter.params.provider.EnumSource

@Timeout(60, threadMode = SEPARATE_THREAD)
class DashboardTest {
    @ParameterizedTest
    @EnumSource
    fun page_isRenderedOnce_orEveryWidgetGetsTheFailure(twin: Twin) {
        repeat(20) {
            val outcome = twin.dashboard.runHere()

            assertEquals("", outcome.err)
            assertEquals(EXPECTED, outcome.out)
            assertEquals(0, outcome.exitCode)
        }
    }

    @ParameterizedTest
    @EnumSource
    fun main_endsByItself(twin: Twin) {
        val outcome = twin.start("Dashboard").outcome()

        assertEquals("", outcome.err)
        assertEquals(0, outcome.exitCode)
    }

    private companion object {
        val EXPECTED =
            """
            All widgets can be loaded
              news: shown
              stocks: shown
              weather: shown
              rendered: 1 time, {news=nothing new, stocks=up and down, weather=sunny}

            The news cannot be loaded
              news: not loaded: /news answered 503
              stocks: not shown: /news answered 503
              weather: not shown: /news answered 503
              rendered: never


            """.trimIndent()
    }
}
