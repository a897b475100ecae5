package samples.support

import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.api.Test

class ProcessLimitsTest {
    @Test
    fun connections_areAtMostThoseWanted_atLeastOne() {
        assertEquals(1, ProcessLimits.connections(1))
        assertTrue(ProcessLimits.connections(Int.MAX_VALUE) in 1..<Int.MAX_VALUE)
    }
}
