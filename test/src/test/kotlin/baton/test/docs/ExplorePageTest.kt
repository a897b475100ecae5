package baton.test.docs

import baton.channels.Channel
import baton.sync.Mutex
import baton.sync.Semaphore
import baton.sync.withLock
import baton.test.explore
import baton.test.replay
import kotlin.coroutines.ContinuationInterceptor
import kotlin.time.Duration.Companion.minutes
import kotlinx.coroutines.CoroutineDispatcher
import kotlinx.coroutines.CoroutineName
import kotlinx.coroutines.delay
import kotlinx.coroutines.launch
import kotlinx.coroutines.withContext
import kotlinx.coroutines.withTimeoutOrNull
import kotlinx.coroutines.yield
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Test
import org.junit.jupiter.api.assertThrows

private class Account(var balance: Int) {
    suspend fun withdraw(amount: Int) {
        if (balance < amount) return
        audit() // suspends
        balance -= amount
    }
}

private suspend fun audit() = yield()

private suspend fun login() = repeat(2) { yield() }

/** The code of docs/testing.md on explore, as it stands there. [ExploreExamplesTest] has the stories. */
internal class ExplorePageTest {
    private fun `withdrawals leave no hole`() =
        explore(runs = 2_000) {
            val account = Account(100)
            launch(CoroutineName("a")) { account.withdraw(70) }
            launch(CoroutineName("b")) {
                login() // suspends twice
                account.withdraw(70)
            }
            afterwards { check(account.balance >= 0) { "balance ${account.balance}" } }
        }

    private fun `a cancelled query keeps no slot`() =
        explore(cancels = true) {
            val slots = Semaphore(1)
            val connections = Channel<String>(capacity = 1)

            suspend fun query() {
                slots.acquire()
                val connection = connections.receive() // cancelled here, it keeps the slot
                try {
                    audit()
                } finally {
                    connections.trySend(connection)
                    slots.release()
                }
            }
            launch(CoroutineName("query")) { query() }
            connections.send("c1")
            afterwards { check(slots.availablePermits == 1) { "a slot is lost" } }
        }

    private fun `two locks`() = explore {
        val x = Mutex(name = "x")
        val y = Mutex(name = "y")
        launch(CoroutineName("a")) { x.withLock { y.withLock {} } }
        launch(CoroutineName("b")) { y.withLock { x.withLock {} } }
    }

    @Test
    fun examplesWithAFault_fail() {
        for (example in listOf(::`withdrawals leave no hole`, ::`a cancelled query keeps no slot`, ::`two locks`)) {
            assertThrows<AssertionError> { example() }
        }
    }

    @Test
    fun orderThatAStoryNames_isRepeated() {
        val error =
            assertThrows<AssertionError> {
                replay("4=1 5=1") {
                    val account = Account(100)
                    launch(CoroutineName("a")) { account.withdraw(70) }
                    launch(CoroutineName("b")) {
                        login()
                        account.withdraw(70)
                    }
                    afterwards { check(account.balance >= 0) { "balance ${account.balance}" } }
                }
            }
        assertEquals("balance -40", error.cause?.message)
    }

    @Test
    fun examplesWithoutAFault_pass() {
        explore {
            launch { withTimeoutOrNull(1.minutes) { delay(1.minutes) } } // null in some orders, not in others
        }
        explore {
            val reports = Reports(coroutineContext[ContinuationInterceptor] as CoroutineDispatcher)
            assertEquals("report", reports.write())
        }
    }

    private class Reports(private val dispatcher: CoroutineDispatcher) {
        suspend fun write(): String = withContext(dispatcher) { "report" }
    }
}
