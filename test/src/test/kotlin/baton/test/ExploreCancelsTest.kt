package baton.test

import baton.sync.Mutex
import baton.sync.Semaphore
import baton.sync.withLock
import baton.sync.withPermit
import kotlin.time.Duration.Companion.seconds
import kotlinx.coroutines.CancellationException
import kotlinx.coroutines.CompletableDeferred
import kotlinx.coroutines.CoroutineName
import kotlinx.coroutines.async
import kotlinx.coroutines.awaitAll
import kotlinx.coroutines.delay
import kotlinx.coroutines.launch
import kotlinx.coroutines.withTimeout
import kotlinx.coroutines.yield
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertFalse
import org.junit.jupiter.api.Assertions.assertThrows
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.api.Test

class ExploreCancelsTest {
    private fun failureOf(call: () -> Unit): AssertionError = assertThrows(AssertionError::class.java) { call() }

    @Test
    fun cancellation_alone_isNoFailure() {
        var cancelled = 0
        explore(cancels = true, seed = 1) {
            val jobs = List(3) { async { yield() } }
            afterwards { cancelled += jobs.count { it.isCancelled } }
            jobs.awaitAll()
        }
        assertTrue(cancelled > 0)
    }

    @Test
    fun run_cancelsOneCoroutineAtMost_beforeItStartsOrAtAnyPoint() {
        val stories = HashSet<String>()
        explore(cancels = true, seed = 1) {
            val events = StringBuilder()
            launch {
                try {
                    events.append("1")
                    yield()
                    events.append("2")
                    delay(1.seconds)
                    events.append("3")
                } catch (e: CancellationException) {
                    events.append("x")
                    throw e
                }
            }
            afterwards { stories += events.toString() }
        }
        assertEquals(setOf("123", "12x", "1x", ""), stories)
    }

    @Test
    fun withoutCancels_noneIsCancelled() = explore {
        val jobs = List(3) { async { yield() } }
        afterwards { assertFalse(jobs.any { it.isCancelled }) }
    }

    private val lostPermit: suspend ExploreScope.() -> Unit = {
        val permits = Semaphore(1, name = "places")
        suspend fun work() {
            permits.acquire()
            yield()
            permits.release()
        }
        launch(CoroutineName("a")) { work() }
        launch(CoroutineName("b")) { work() }
        afterwards { check(permits.availablePermits == 1) }
    }

    @Test
    fun permit_thatIsNotGivenBackOnCancellation_isFound() {
        explore(body = lostPermit)
        val failure = failureOf { explore(cancels = true, seed = 1, body = lostPermit) }
        assertTrue(failure.message!!.contains("1 unusual choice fails"), failure.message)
        assertTrue(Regex(">\\s+\\d+  [ab] is cancelled").containsMatchIn(failure.message!!), failure.message)
        val choices = Regex("replay\\(\"(.*)\"\\)").find(failure.message!!)!!.groupValues[1]
        assertTrue(Regex("\\d+=x[12]").matches(choices), choices)
        assertEquals(
            failure.message!!.substringAfter('\n'),
            failureOf { replay(choices, lostPermit) }.message!!.substringAfter('\n'),
        )
    }

    @Test
    fun lockedSection_withCancels_isRight() =
        explore(runs = 2_000, cancels = true) {
            val mutex = Mutex()
            val permits = Semaphore(2)
            var inside = 0
            repeat(4) {
                launch {
                    permits.withPermit {
                        mutex.withLock {
                            check(++inside == 1)
                            try {
                                yield()
                            } finally {
                                inside--
                            }
                        }
                    }
                }
            }
            afterwards {
                check(!mutex.isLocked && permits.availablePermits == 2)
                check(mutex.waiting + permits.waiting == 0)
            }
        }

    /** It is no consequence of the cancellation. */
    @Test
    fun timeoutOfTheBody_isAFailure() {
        failureOf { explore(cancels = true) { withTimeout(1.seconds) { CompletableDeferred<Unit>().await() } } }
    }

    @Test
    fun exception_thatFollowsACancellation_isAFailure() {
        val failure = failureOf {
            explore(cancels = true, seed = 1) {
                launch {
                    try {
                        yield()
                    } catch (_: CancellationException) {
                        error("wrong")
                    }
                }
            }
        }
        assertEquals("wrong", failure.cause?.message)
    }
}
