package samples.support

import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.params.ParameterizedTest
import org.junit.jupiter.params.provider.CsvSource

class TimelineTest {
    @ParameterizedTest
    @CsvSource("0.3, 1", "10, 1", "10.5, 2", "20, 2", "21, 5", "50, 5", "51, 10", "150, 20", "999, 100", "2900, 500")
    fun axis_hasAtMostTenRoundMarks(milliseconds: Double, step: Long) {
        assertEquals(step, Timeline.step(milliseconds))
    }
}
