package samples

import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Timeout
import org.junit.jupiter.api.Timeout.ThreadMode.SEPARATE_THREAD
import org.junit.jupiter.params.ParameterizedTest
import org.junit.jupiter.params.provider.Arguments
import org.junit.jupiter.params.provider.Arguments.arguments
import org.junit.jupiter.params.provider.MethodSource

/** The samples without options: each prints the same in both languages, at every run. */
@Timeout(300, threadMode = SEPARATE_THREAD)
class FixedOutputTest {
    enum class Fixed(val program: String, val sample: (Twin) -> Sample, val runs: Int, val output: String) {
        CACHE_LOCK(
            "CacheLock",
            Twin::cacheLock,
            runs = 10,
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


            """
                .trimIndent(),
        ),
        DASHBOARD(
            "Dashboard",
            Twin::dashboard,
            runs = 20,
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


            """
                .trimIndent(),
        ),
        PIPELINE(
            "Pipeline",
            Twin::pipeline,
            runs = 1,
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


            """
                .trimIndent(),
        ),
        SEARCH_AS_YOU_TYPE(
            "SearchAsYouType",
            Twin::searchAsYouType,
            runs = 20,
            """
            Typing 'baton'
              b: aborted
              ba: aborted
              bat: aborted
              bato: aborted
              baton: answered
              shown: a stick that is passed from hand to hand


            """
                .trimIndent(),
        ),
        TRANSFER_MONEY(
            "TransferMoney",
            Twin::transferMoney,
            runs = 200,
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

            """
                .trimIndent(),
        ),
    }

    private fun assertOutcome(output: String, error: String, exitCode: Int, outcome: Outcome) {
        assertEquals(error, outcome.err)
        assertEquals(output, outcome.out)
        assertEquals(exitCode, outcome.exitCode)
    }

    @ParameterizedTest
    @MethodSource("twins")
    fun run_printsTheSameEveryTime(fixed: Fixed, twin: Twin) =
        repeat(fixed.runs) { assertOutcome(fixed.output, "", 0, fixed.sample(twin).runHere()) }

    @ParameterizedTest
    @MethodSource("twins")
    fun main_endsByItself(fixed: Fixed, twin: Twin) =
        assertOutcome(fixed.output, "", 0, twin.start(fixed.program).outcome())

    @ParameterizedTest
    @MethodSource("twins")
    fun main_withAnArgument_printsOneLine_exits2(fixed: Fixed, twin: Twin) =
        assertOutcome("", "this sample has no options, not even '--all'\n", 2, fixed.sample(twin).runHere("--all"))

    companion object {
        @JvmStatic
        fun twins(): List<Arguments> = Fixed.entries.flatMap { fixed -> Twin.entries.map { arguments(fixed, it) } }
    }
}
