package baton.test

import java.util.concurrent.atomic.AtomicInteger
import kotlin.coroutines.ContinuationInterceptor
import kotlin.coroutines.resume
import kotlin.time.Duration.Companion.hours
import kotlin.time.Duration.Companion.seconds
import kotlinx.coroutines.CancellableContinuation
import kotlinx.coroutines.CompletableDeferred
import kotlinx.coroutines.CoroutineName
import kotlinx.coroutines.Deferred
import kotlinx.coroutines.Dispatchers
import kotlinx.coroutines.async
import kotlinx.coroutines.coroutineScope
import kotlinx.coroutines.delay
import kotlinx.coroutines.launch
import kotlinx.coroutines.supervisorScope
import kotlinx.coroutines.suspendCancellableCoroutine
import kotlinx.coroutines.withContext
import kotlinx.coroutines.withTimeoutOrNull
import kotlinx.coroutines.yield
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertFalse
import org.junit.jupiter.api.Assertions.assertNull
import org.junit.jupiter.api.Assertions.assertSame
import org.junit.jupiter.api.Assertions.assertThrows
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.api.Test

class ExploreTest {
    private class Account(var balance: Int) {
        var paid = 0

        suspend fun withdraw(amount: Int) {
            val before = balance
            yield()
            if (before < amount) return
            balance = before - amount
            paid += amount
        }
    }

    private val twoWithdrawals: suspend ExploreScope.() -> Unit = {
        val account = Account(100)
        launch(CoroutineName("a")) { account.withdraw(70) }
        launch(CoroutineName("b")) { account.withdraw(70) }
        afterwards { check(account.balance + account.paid == 100) { "paid ${account.paid}" } }
    }

    /** Fails if the coroutine that was launched last goes first. */
    private val lastFirst: suspend ExploreScope.() -> Unit = {
        var count = 0
        repeat(3) { i -> launch(CoroutineName("c$i")) { check(count++ > 0 || i < 2) { "$i was first" } } }
    }

    private fun failureOf(call: () -> Unit): AssertionError = assertThrows(AssertionError::class.java) { call() }

    // As JUnit wants it: a function whose body is the call.
    @Test
    fun body_thatIsRight_passes() = explore {
        var sum = 0
        coroutineScope { repeat(3) { launch { sum += it } } }
        assertEquals(3, sum)
    }

    @Test
    fun check_thatFails_failsWithTheCheckAsItsCause() {
        val failure = failureOf { explore(body = twoWithdrawals) }
        assertEquals("paid 140", failure.cause?.message)
    }

    @Test
    fun assertion_inACoroutine_isTheCause() {
        val thrown = AssertionError("wrong")
        val failure = failureOf { explore { launch { throw thrown } } }
        assertSame(thrown, failure.cause)
    }

    @Test
    fun exception_ofTheBody_isTheCause() {
        val thrown = IllegalStateException("wrong")
        assertSame(thrown, failureOf { explore { throw thrown } }.cause)
    }

    /** Its scope does not fail with it, and nothing else sees it. */
    @Test
    fun exception_thatNothingHandles_failsTheRun() {
        val thrown = IllegalStateException("wrong")
        assertSame(thrown, failureOf { explore { supervisorScope { launch { throw thrown } } } }.cause)
    }

    @Test
    fun exception_thatTheBodyHandles_isNoFailure() = explore {
        val result = runCatching { coroutineScope { launch { error("wrong") } } }
        check(result.isFailure)
    }

    @Test
    fun checks_followTheLastCoroutine_inTheirOrder() = explore {
        val events = ArrayList<String>()
        afterwards { events += "first" }
        afterwards { assertEquals(listOf("body", "child", "first"), events) }
        launch {
            delay(1.hours)
            events += "child"
        }
        events += "body"
    }

    @Test
    fun checks_afterAFailure_doNotRun() {
        var hasRun = false
        failureOf {
            explore {
                afterwards { hasRun = true }
                error("wrong")
            }
        }
        assertFalse(hasRun)
    }

    @Test
    fun order_thatIsUnusual_isFoundAndReduced() {
        val failure = failureOf { explore(seed = 1, body = lastFirst) }
        assertEquals(
            """
            The story: 1 unusual choice fails, which replay("2=2") repeats:
                 1  test starts
            >    2  c2 starts, ahead of c0"""
                .trimIndent(),
            "The story: " + failure.message!!.substringAfter('\n'),
        )
        assertTrue(
            Regex("explore: order \\d+ of 1000 \\(seed = 1L\\) fails: .*: 2 was first\n")
                .matchesAt(failure.message!!, 0)
        )
    }

    @Test
    fun story_ofTheUsualOrder_hasNoMarks() {
        val lines = failureOf { explore(body = twoWithdrawals) }.message!!.lines().drop(1)
        val line = Regex("\\(ExploreTest.kt:\\d+\\)")
        assertEquals(
            listOf(
                "The usual order fails, which replay(\"\") repeats:",
                "     1  test starts",
                "     2  a starts",
                "     3  b starts",
                "     4  a goes on at withdraw(LINE)",
                "     5  b goes on at withdraw(LINE)",
            ),
            lines.map { line.replace(it, "(LINE)") },
        )
    }

    @Test
    fun seed_givesTheSameError_again() {
        val first = failureOf { explore(seed = 7, body = lastFirst) }
        assertEquals(first.message, failureOf { explore(seed = 7, body = lastFirst) }.message)
    }

    @Test
    fun seed_thatIsNotGiven_isNamed() {
        val message = failureOf { explore(body = lastFirst) }.message!!
        val seed = Regex("seed = (-?\\d+)L").find(message)!!.groupValues[1].toLong()
        assertEquals(message, failureOf { explore(seed = seed, body = lastFirst) }.message)
    }

    @Test
    fun replay_runsTheOrderOnce() {
        val runs = AtomicInteger()
        val failure = failureOf {
            replay("2=2") {
                runs.incrementAndGet()
                lastFirst()
            }
        }
        assertEquals(1, runs.get())
        assertEquals("2 was first", failure.cause?.message)
        assertTrue(failure.message!!.startsWith("replay: the order fails: "), failure.message)
        replay("", lastFirst)
        replay("2=1", lastFirst)
    }

    /** As after a change of the body: the order that failed is not there any more, which is no success. */
    @Test
    fun replay_ofChoicesThatAreNotThere_isRefused() {
        val stale = "The body is not the one that failed: run explore again"
        for ((choices, why) in
            listOf(
                "2=7" to "step 2 has no choice 7, as 3 coroutines are ready there",
                "3=1 4=7" to "step 4 has no choice 7, as 1 coroutine is ready there",
                "2=x4" to "step 2 has no choice x4, as 3 coroutines can be cancelled there",
                "1=x1" to "step 1 has no choice x1, as 0 coroutines can be cancelled there",
                "99=3" to "there are 4 steps",
                "2=1 5=1" to "there are 4 steps",
            )) {
            val refusal =
                assertThrows(IllegalArgumentException::class.java) { replay(choices) { repeat(3) { launch {} } } }
            assertEquals("choices = '$choices': $why. $stale", refusal.message)
        }
        val before = failureOf { replay("99=1") { error("wrong") } }
        assertEquals("wrong", before.cause?.message, "a failure comes before the step that is not there")
    }

    @Test
    fun replay_ofAnotherText_isRefused() {
        for (text in listOf("x", "1=", "0=1", "1=0", "1=x0", "100001=1", "9999999999=1")) {
            assertThrows(IllegalArgumentException::class.java) { replay(text) {} }
        }
    }

    @Test
    fun runs_belowOne_areRefused() {
        val refusal = assertThrows(IllegalArgumentException::class.java) { explore(runs = 0) {} }
        assertEquals("runs = 0, must be at least 1", refusal.message)
    }

    @Test
    fun smallTree_isTriedOnce_eachOrder() {
        val seen = ArrayList<String>()
        explore(runs = 1_000) {
            val order = StringBuilder()
            for (name in listOf("a", "b", "c", "d")) launch { order.append(name) }
            afterwards { seen += order.toString() }
        }
        assertEquals(24, seen.size)
        assertEquals(24, seen.toSet().size)
        assertEquals("abcd", seen.first())
    }

    @Test
    fun largeTree_takesAllRuns() {
        var runs = 0
        explore(runs = 200) {
            runs++
            repeat(10) { launch { repeat(10) { yield() } } }
        }
        assertEquals(200, runs)
    }

    @Test fun time_isVirtual() = explore { assertNull(withTimeoutOrNull(1.hours) { delay(2.hours) }) }

    @Test
    fun timers_thatAreDueTogether_fireInAnyOrder() {
        val seen = HashSet<String>()
        explore {
            val order = StringBuilder()
            for (name in listOf("a", "b", "c")) {
                launch {
                    delay(1.seconds)
                    order.append(name)
                }
            }
            afterwards { seen += order.toString() }
        }
        assertEquals(6, seen.size)
    }

    @Test
    fun timers_thatAreDueOneAfterTheOther_keepTheirOrder() = explore {
        val order = StringBuilder()
        for ((i, name) in listOf("c", "b", "a").withIndex()) {
            launch {
                delay((3 - i).seconds)
                order.append(name)
            }
        }
        afterwards { assertEquals("abc", order.toString()) }
    }

    @Test
    fun timeout_thatCameTooLate_takesNoStep() = explore {
        val message = CompletableDeferred<String>()
        launch {
            delay(1.seconds)
            message.complete("here")
        }
        val received = withTimeoutOrNull(1.seconds) { message.await() }
        check(received == null || received == "here")
    }

    @Test
    fun deadlock_isAFailure() {
        val failure = failureOf {
            explore {
                val never = CompletableDeferred<Unit>()
                launch { never.await() }
            }
        }
        assertNull(failure.cause)
        assertTrue(failure.message!!.contains("nothing can go on"), failure.message)
    }

    @Test
    fun livelock_isAFailure() {
        val failure = failureOf { explore { while (true) yield() } }
        assertTrue(failure.message!!.contains("more than 100000 steps"), failure.message)
        val line = Regex("\\(ExploreTest.kt:\\d+\\)")
        assertEquals(
            listOf(
                "     1  test starts",
                "     2  test goes on at (L)",
                "     3  test goes on at (L)",
                "     4  test goes on at (L)",
                "        and so 99996 times more",
            ),
            failure.message!!.lines().drop(2).map { line.replace(it, "(L)") },
        )
    }

    @Test
    fun livelock_ofTwo_hasTheFirstAndTheLastSteps() {
        val failure = failureOf { explore { repeat(2) { launch { while (true) yield() } } } }
        assertTrue(failure.message!!.contains("more than 100000 steps"), failure.message)
        assertTrue(failure.message!!.lines().size in 200..220, failure.message)
    }

    /** No order has the one that waits run for ever. */
    @Test
    fun coroutine_thatYieldsUntilAnotherHasRun_isNoLivelock() =
        explore(runs = 300) {
            var isDone = false
            launch { while (!isDone) yield() }
            launch {
                yield()
                isDone = true
            }
        }

    @Test
    fun interrupt_endsTheExploration() {
        var runs = 0
        assertThrows(InterruptedException::class.java) {
            explore {
                repeat(5) { launch { yield() } }
                if (++runs == 3) Thread.currentThread().interrupt()
            }
        }
        assertEquals(3, runs)
        assertFalse(Thread.interrupted())
    }

    @Test
    fun otherDispatcher_isNamed() {
        for (body in
            listOf<suspend ExploreScope.() -> Unit>(
                { withContext(Dispatchers.Default) {} },
                { launch(Dispatchers.Default) {} },
                { launch(Dispatchers.Default) { delay(1) } },
                { launch { async(Dispatchers.Default) { 1 }.await() } },
            )) {
            val mistake = assertThrows(IllegalStateException::class.java) { explore(body = body) }
            assertTrue(mistake.message!!.contains("runs on Dispatchers.Default"), mistake.message)
            assertTrue(mistake.message!!.contains("coroutineContext[ContinuationInterceptor]"), mistake.message)
        }
    }

    @Test
    fun otherThread_thatResumesACoroutine_isNamed() {
        val mistake =
            assertThrows(IllegalStateException::class.java) {
                explore {
                    var waiting: CancellableContinuation<Unit>? = null
                    launch(CoroutineName("a")) { suspendCancellableCoroutine<Unit> { waiting = it } }
                    // Once it has suspended: a resumption before that lets it go on in its own thread.
                    launch { Thread({ waiting!!.resume(Unit) }, "stranger").apply { start() }.join(120_000) }
                }
            }
        assertEquals(
            "a was resumed by the thread 'stranger', which is not explored. Resume it from a coroutine of the body " +
                "instead: let a fake call back from one that the body launches",
            mistake.message,
        )
    }

    @Test
    fun dispatcherOfTheBody_canBePassed() = explore {
        val dispatcher = coroutineContext[ContinuationInterceptor]!!
        val results: List<Deferred<Int>> = List(3) { async(dispatcher) { it } }
        assertEquals(listOf(0, 1, 2), results.map { it.await() })
    }

    @Test
    fun failure_thatDoesNotRepeat_isSaid() {
        var runs = 0
        val failure = failureOf {
            explore {
                repeat(3) { launch {} }
                check(runs++ != 3) { "run 3" }
            }
        }
        assertTrue(failure.message!!.contains("That does not repeat"), failure.message)
    }
}
