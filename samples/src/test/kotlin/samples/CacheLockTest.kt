package samples

import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Timeout
import org.junit.jupiter.api.Timeout.ThreadMode.SEPARATE_THREAD
import org.junit.jupiter.params.ParameterizedTest
import org.junit.jupiter.params.provider.EnumSource

@Timeout(60, threadMode = SEPARATE_THREAD)
class CacheLockTest {
    @ParameterizedTest
    @EnumSource
    fun reads_areTornWithoutTheLockOnly_everyTime(twin: Twin) {
        repeat(10) {
            val outcome = twin.cacheLock.runHere()

            assertEquals("", outcome.err)
            assertEquals(EXPECTED, outcome.out)
            assertEquals(0, outcome.exitCode)
        }
    }

    @ParameterizedTest
    @EnumSource
    fun main_endsByItself(twin: Twin) {
        val outcome = twin.start("CacheLock").outcome()

        assertEquals("", outcome.err)
        assertEquals(0, outcome.exitCode)
    }

    private companion object {
        val EXPECTED =
            """
            Without a lock
              180 reads and 20 writes of 4 parts each
              torn reads: some
              readers at once: more than 10
              writers beside others: yes

            With a read-write lock, ten readers at a time
              180 reads and 20 writes of 4 parts each
              torn reads: none
              readers at once: 10
              writers beside others: never


            """.trimIndent()
    }
}
