package guide.testing

import baton.channels.Channel
import baton.sync.Mutex
import baton.sync.Semaphore
import baton.sync.withLock
import baton.sync.withPermit
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
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.api.Test
import org.junit.jupiter.api.assertThrows

/** The examples of docs/testing.md on `explore`. They have a seed, so that their stories are those of the page. */
class ExploreExamplesTest {
    private class Account(var balance: Int) {
        suspend fun withdraw(amount: Int) {
            if (balance < amount) return
            audit() // suspends
            balance -= amount
        }
    }

    private class LockedAccount(var balance: Int) {
        private val mutex = Mutex()

        suspend fun withdraw(amount: Int) =
            mutex.withLock {
                if (balance >= amount) {
                    audit()
                    balance -= amount
                }
            }
    }

    private class Pool {
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
    }

    private suspend fun Pool.rightQuery() =
        slots.withPermit {
            val connection = connections.receive()
            try {
                audit()
            } finally {
                connections.trySend(connection)
            }
        }

    /** They fail, so they are not found by surefire. */
    class Failing {
        @Test
        fun `withdrawals leave no hole`() =
            explore(runs = 2_000, seed = 1) {
                val account = Account(100)
                launch(CoroutineName("a")) { account.withdraw(70) }
                launch(CoroutineName("b")) {
                    login() // suspends twice
                    account.withdraw(70)
                }
                afterwards { check(account.balance >= 0) { "balance ${account.balance}" } }
            }

        @Test
        fun `a cancelled query keeps no slot`() =
            explore(seed = 1, cancels = true) {
                val pool = Pool()
                launch(CoroutineName("query")) { pool.query() }
                pool.connections.send("c1")
                afterwards { check(pool.slots.availablePermits == 1) { "a slot is lost" } }
            }
    }

    private fun assertStory(expected: String, test: () -> Unit) {
        val error = assertThrows<AssertionError> { test() }
        assertEquals(
            expected.trimIndent().trimMargin(),
            error.message.orEmpty().replace(LINE, "(L)").replace(ORDER, "order N of"),
        )
    }

    @Test
    fun explore_example_findsTheOrderThatFails() {
        val expected =
            """
            |explore: order N of 2000 (seed = 1L) fails: afterwards: java.lang.IllegalStateException: balance -40
            |2 unusual choices fail, which replay("4=1 5=1") repeats:
            |     1  test starts
            |     2  a starts
            |     3  b starts
            |>    4  b goes on at login(L), ahead of a
            |>    5  b goes on at login(L), ahead of a
            |     6  a goes on at withdraw(L)
            |     7  b goes on at withdraw(L)
            """
        assertStory(expected) { Failing().`withdrawals leave no hole`() }
    }

    /** The call that a failing test printed, as a test of its own while the fault is looked for. */
    @Test
    fun replay_example_repeatsTheOrder() {
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
    fun explore_exampleWithALock_passes() =
        explore(runs = 2_000) {
            val account = LockedAccount(100)
            for (name in listOf("a", "b", "c")) launch(CoroutineName(name)) { account.withdraw(70) }
            afterwards { assertEquals(30, account.balance) }
        }

    @Test
    fun cancels_example_findsThePermitThatIsNotGivenBack() {
        val expected =
            """
            |explore: order N of 1000 (seed = 1L) fails: afterwards: java.lang.IllegalStateException: a slot is lost
            |2 unusual choices fail, which replay("2=1 3=x1") repeats:
            |     1  test starts
            |>    2  query starts, ahead of test
            |>    3  query is cancelled
            |     4  query calls acquire of Semaphore at query(L)
            |     5  query calls receive of Channel at query(L)
            |     6  test calls send of Channel at (L)
            |     7  query goes on at query(L)
            """
        assertStory(expected) { Failing().`a cancelled query keeps no slot`() }
    }

    @Test
    fun cancels_exampleThatGivesItBack_passes() =
        explore(cancels = true) {
            val pool = Pool()
            launch(CoroutineName("query")) { pool.rightQuery() }
            pool.connections.send("c1")
            afterwards { assertEquals(1, pool.slots.availablePermits) }
        }

    @Test
    fun points_example_findsTheDeadlockOfTwoFreeLocks() {
        val expected =
            """
            |explore: order N of 1000 (seed = 1L) fails: nothing can go on, and the body has not ended
            |1 unusual choice fails, which replay("4=1") repeats:
            |     1  test starts
            |     2  a starts
            |     3  a calls lock of Mutex 'x' at (L)
            |>    4  b starts, ahead of a
            |     5  b calls lock of Mutex 'y' at (L)
            |     6  b calls lock of Mutex 'x' at (L)
            |     7  a calls lock of Mutex 'y' at (L)
            |Then nothing can go on:
            |  test waits for what it launched
            |  a waits for lock of Mutex 'y' (locked, waiting = 1) at (L)
            |  b waits for lock of Mutex 'x' (locked, waiting = 1) at (L)
            |  -Dbaton.deadlocks=true names the holders, too
            """
        assertStory(expected) {
            explore(seed = 1) {
                val x = Mutex(name = "x")
                val y = Mutex(name = "y")
                launch(CoroutineName("a")) { x.withLock { y.withLock {} } }
                launch(CoroutineName("b")) { y.withLock { x.withLock {} } }
            }
        }
    }

    @Test
    fun time_example_takesBothOrdersOfTimersThatAreDueTogether() {
        val seen = mutableSetOf<Boolean>()
        explore { launch { seen += withTimeoutOrNull(1.minutes) { delay(1.minutes) } == null } }
        assertEquals(setOf(true, false), seen)
    }

    private class Reports(private val dispatcher: CoroutineDispatcher) {
        suspend fun write(): String = withContext(dispatcher) { "report" }
    }

    @Test
    fun dispatcher_example_isThatOfTheBody() = explore {
        val reports = Reports(coroutineContext[ContinuationInterceptor] as CoroutineDispatcher)
        assertTrue(reports.write() == "report")
    }

    private companion object {
        val ORDER = Regex("order \\d+ of")
        val LINE = Regex("\\(ExploreExamplesTest.kt:\\d+\\)")

        suspend fun audit() = yield()

        suspend fun login() = repeat(2) { yield() }
    }
}
