package samples

import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Timeout
import org.junit.jupiter.api.Timeout.ThreadMode.SEPARATE_THREAD
import org.junit.jupiter.params.ParameterizedTest
import org.junit.jupiter.params.provider.EnumSource

@Timeout(60, threadMode = SEPARATE_THREAD)
class TransferMoneyTest {
    @ParameterizedTest
    @EnumSource
    fun transfers_raceWithoutTheLockOnly_everyTime(twin: Twin) {
        repeat(200) {
            val outcome = twin.transferMoney.runHere()

            assertEquals(EXPECTED, outcome.out)
            assertEquals("", outcome.err)
            assertEquals(0, outcome.exitCode)
        }
    }

    @ParameterizedTest
    @EnumSource
    fun main_endsByItself(twin: Twin) {
        val outcome = twin.start("TransferMoney").outcome()

        assertEquals("", outcome.err)
        assertEquals(0, outcome.exitCode)
    }

    @ParameterizedTest
    @EnumSource
    fun main_withAnArgument_printsOneLine_exits2(twin: Twin) {
        val outcome = twin.transferMoney.runHere("--all")

        assertEquals("this sample has no options, not even '--all'" + "\n", outcome.err)
        assertEquals("", outcome.out)
        assertEquals(2, outcome.exitCode)
    }

    private companion object {
        val EXPECTED =
            """
            Without a lock
              transfer-1 of 100: done
              transfer-2 of 100: done
              balances: {alice=50, bob=100, carol=100}
              total money: 150 before, 250 after
              alice had 150 and paid 200: overdrawn by 50

            With a mutex
              transfer-1 of 100: done
              transfer-2 of 100: refused
              balances: {alice=50, bob=100, carol=0}
              total money: 150 before, 150 after
              alice had 150 and paid 100: not overdrawn

            The same owner locks twice
              IllegalStateException: Mutex 'accounts' is already locked by transfer-1

            """.trimIndent()
    }
}
