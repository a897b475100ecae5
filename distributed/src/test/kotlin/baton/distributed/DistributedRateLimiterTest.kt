package baton.distributed

import baton.PermitTimeoutException
import baton.reportingTo
import baton.resilience.Rate
import baton.resilience.RateLimiterClosedException
import baton.resilience.per
import baton.retryIn
import kotlin.random.Random
import kotlin.time.Duration.Companion.milliseconds
import kotlin.time.Duration.Companion.minutes
import kotlin.time.Duration.Companion.seconds
import kotlinx.coroutines.async
import kotlinx.coroutines.awaitAll
import kotlinx.coroutines.cancelAndJoin
import kotlinx.coroutines.delay
import kotlinx.coroutines.launch
import kotlinx.coroutines.test.TestScope
import kotlinx.coroutines.test.currentTime
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertFalse
import org.junit.jupiter.api.Assertions.assertThrows
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.api.Test

/** Members that share a limiter, in virtual time. */
class DistributedRateLimiterTest : ClusterFixture() {
    private val grants = GrantLog()

    private suspend fun TestScope.take(limiter: DistributedRateLimiter, permits: Int = 1) {
        limiter.acquire(permits)
        grants.add(currentTime, permits)
    }

    @Test
    fun burst_comesAtOnce_andThenTheRate() = cluster {
        val limiter = cluster("one").rateLimiter("api", 10 per 1.seconds, burst = 5)
        repeat(25) { take(limiter) }
        assertTrue(currentTime in 2_000L..2_100L, "after $currentTime ms")
        grants.check(10 per 1.seconds, 5)
    }

    @Test
    fun callers_areServedInTheirOrder() = cluster {
        val limiter = cluster("one").rateLimiter("api", 10 per 1.seconds, burst = 3)
        take(limiter, 3)
        val order = ArrayList<Int>()
        List(6) { i ->
                async {
                    take(limiter, 1 + i % 3)
                    order += i
                }
            }
            .awaitAll()
        assertEquals(List(6) { it }, order)
        grants.check(10 per 1.seconds, 3)
    }

    @Test
    fun membersInDemand_neverExceedTheBound_andUseTheWholeRate() = cluster {
        val limiters = List(3) { cluster("m$it").rateLimiter("api", 100 per 1.seconds, burst = 30) }
        val start = currentTime
        val callers = limiters.flatMap { limiter -> List(10) { async { repeat(20) { take(limiter) } } } }
        callers.awaitAll()
        val time = currentTime - start
        assertTrue(time in 5_600L..6_500L, "600 permits took $time ms")
        grants.check(100 per 1.seconds, 30)
    }

    @Test
    fun membersThatComeAndGo_neverExceedTheBound() = cluster {
        val random = Random(7)
        val limiters = List(3) { cluster("m$it").rateLimiter("api", 50 per 1.seconds, burst = 12) }
        List(9) { i ->
                async {
                    repeat(30) {
                        delay(random.nextLong(if (random.nextInt(10) == 0) 5_000 else 100))
                        val permits = random.nextInt(1, 6)
                        if (random.nextBoolean()) take(limiters[i % 3], permits)
                        else if (limiters[i % 3].tryAcquire(permits, random.nextLong(-5, 200).milliseconds))
                            grants.add(currentTime, permits)
                    }
                }
            }
            .awaitAll()
        grants.check(50 per 1.seconds, 12)
    }

    @Test
    fun hotKeyOf32Members_takesATripForTenPermitsAtMost() = cluster {
        val rate = 20_000 per 1.seconds
        val limiters = List(32) { cluster("m$it").rateLimiter("api", rate, burst = 4_000) }
        limiters.forEach { it.acquire() }
        val before = store.calls
        val calls = 32 * 50 * 10
        limiters.flatMap { limiter -> List(50) { launch { repeat(10) { take(limiter) } } } }.forEach { it.join() }
        val trips = 1_000.0 * (store.calls - before) / calls
        assertTrue(trips <= 100, "$trips trips per 1,000 permits")
        grants.check(rate, 4_000)
    }

    @Test
    fun lonelyMemberInDemand_borrowsBlocks() = cluster {
        val limiter = cluster("one").rateLimiter("api", 1_000 per 1.seconds, burst = 1_000)
        repeat(1_000) { take(limiter) }
        val before = store.calls
        List(10) { launch { repeat(200) { take(limiter) } } }.forEach { it.join() }
        assertTrue(store.calls - before < 400, "${store.calls - before} trips for 2,000 permits")
        grants.check(1_000 per 1.seconds, 1_000)
    }

    @Test
    fun requestForTheWholeBurst_isGranted_thoughOthersHaveBorrowed() = cluster {
        val limiters = List(3) { cluster("m$it").rateLimiter("api", 10 per 1.seconds, burst = 30) }
        repeat(2) { i -> List(8) { async { take(limiters[i]) } }.awaitAll() }
        val start = currentTime
        take(limiters[2], 30)
        assertTrue(currentTime - start < 3_500, "after ${currentTime - start} ms")
        grants.check(10 per 1.seconds, 30)
    }

    @Test
    fun unusedPermits_goBackWithinTwoHeartbeats() = cluster {
        val limiter = cluster("one").rateLimiter("api", 1_000 per 1.seconds, burst = 100)
        repeat(60) { take(limiter) }
        delay(7.seconds)
        val text = checkNotNull(store.text("test:rateLimiter:api"))
        assertTrue("\"lent\":[]" in text, text)
        take(limiter, 100)
        grants.check(1_000 per 1.seconds, 100)
    }

    @Test
    fun deadMember_losesWhatItHasBorrowed_andTheOthersGoOn() = cluster {
        val first = cluster("one")
        val dead = first.rateLimiter("api", 10 per 1.seconds, burst = 10)
        val other = cluster("other").rateLimiter("api", 10 per 1.seconds, burst = 10)
        List(5) { async { take(dead) } }.awaitAll()
        first.close()
        val start = currentTime
        repeat(10) { take(other) }
        assertTrue(currentTime - start < 1_500, "after ${currentTime - start} ms")
        take(other, 10)
        assertTrue(currentTime - start < 15_000, "after ${currentTime - start} ms")
        grants.check(10 per 1.seconds, 10)
    }

    @Test
    fun deadMemberInTheQueue_holdsUpNoOther() = cluster {
        val first = cluster("one")
        val dead = first.rateLimiter("api", 10 per 1.seconds, burst = 10)
        val other = cluster("other").rateLimiter("api", 10 per 1.seconds, burst = 10)
        take(other, 10)
        val waiting = async { runCatching { dead.acquire(5) } }
        delay(10.milliseconds)
        first.close()
        assertTrue(waiting.await().exceptionOrNull() is RateLimiterClosedException)
        val start = currentTime
        take(other, 2)
        assertTrue(currentTime - start < 1_100, "after ${currentTime - start} ms")
        grants.check(10 per 1.seconds, 10)
    }

    @Test
    fun tryAcquire_withoutPermits_takesNothing_andLeavesNoPlace() = cluster {
        val limiter = cluster("one").rateLimiter("api", 1 per 1.seconds, burst = 2)
        assertTrue(limiter.tryAcquire(2))
        assertFalse(limiter.tryAcquire())
        assertFalse(limiter.tryAcquire(2, 500.milliseconds))
        assertEquals(500L, currentTime)
        delay(600.milliseconds)
        val text = checkNotNull(store.text("test:rateLimiter:api"))
        assertTrue("\"queue\":[]" in text, text)
        assertTrue(limiter.tryAcquire())
        assertEquals(2L, limiter.usage().totals["refused"])
        assertEquals(3L, limiter.usage().totals["granted"])
    }

    @Test
    fun withPermit_inTime_runs_elseNamesTheTime() = cluster {
        val limiter = cluster("one").rateLimiter("api", 1 per 10.seconds, burst = 1)
        assertEquals("done", limiter.withPermit(1.seconds) { "done" })
        val failure = runCatching { limiter.withPermit(1.seconds) {} }.exceptionOrNull()
        assertTrue(failure is PermitTimeoutException, "$failure")
        val retryIn = checkNotNull((failure as PermitTimeoutException).retryIn)
        assertTrue(retryIn in 5.seconds..10.seconds, "$retryIn")
        assertTrue(checkNotNull(failure.message).contains("RateLimiter 'api'"), failure.message)
        assertEquals("later", limiter.guarded(1.minutes) { "later" })
    }

    @Test
    fun cancelledCallers_takeNothing() = cluster {
        val limiter = cluster("one").rateLimiter("api", 1 per 1.seconds, burst = 2)
        take(limiter, 2)
        val start = currentTime
        val waiting = List(20) { launch { limiter.acquire(1 + it % 2) } }
        delay(1.milliseconds)
        waiting.forEach { it.cancelAndJoin() }
        take(limiter, 2)
        assertTrue(currentTime - start <= 2_100, "after ${currentTime - start} ms")
        assertEquals(0, limiter.waiting)
    }

    @Test
    fun impossibleRequests_areRefusedAtOnce() = cluster {
        val one = cluster("one")
        val limiter = one.rateLimiter("api", 1 per 1.seconds, burst = 2)
        for (permits in listOf(0, -1, 3)) {
            val failure = runCatching { limiter.acquire(permits) }.exceptionOrNull()
            assertTrue(failure is IllegalArgumentException, "$permits: $failure")
        }
        assertThrows(IllegalArgumentException::class.java) { one.rateLimiter("b", 1 per 1.seconds, burst = 0) }
        assertThrows(IllegalArgumentException::class.java) { one.rateLimiter("b", Rate(1, 1.seconds), 1L shl 31) }
    }

    @Test
    fun update_changesTheLimitOfAll_andFailsTooGreatRequests() = cluster {
        val one = cluster("one").rateLimiter("api", 1 per 1.seconds, burst = 10)
        val other = cluster("other").rateLimiter("api", 1 per 1.seconds, burst = 10)
        take(one, 10)
        val waiting = async { runCatching { one.acquire(8) } }
        delay(10.milliseconds)
        val reported = ArrayList<Throwable>()
        reportingTo(reported) {
            other.update(100 per 1.seconds, burst = 5)
            delay(1.seconds)
            repeat(105) { other.acquire() }
        }
        assertTrue(waiting.await().exceptionOrNull() is IllegalArgumentException)
        assertEquals(5L, one.burst)
        assertEquals(100 per 1.seconds, other.rate)
        assertTrue(currentTime < 2_300, "after $currentTime ms")
    }

    @Test
    fun membersThatNameOtherLimits_areWarnedOfBoth() = cluster {
        cluster("one").rateLimiter("api", 1 per 1.seconds, burst = 10).acquire()
        val reported = ArrayList<Throwable>()
        val other = cluster("other").rateLimiter("api", 2 per 1.seconds, burst = 5)
        reportingTo(reported) { other.acquire() }
        val message = checkNotNull(reported.first().message)
        assertTrue("2 per 1s, burst = 5" in message && "1 per 1s, burst = 10" in message, message)
        assertEquals(5L, other.burst)
    }

    @Test
    fun storeAway_acquiresByTimeoutNameIt_andOthersWait() = cluster {
        val limiter = cluster("one").rateLimiter("api", 100 per 1.seconds, burst = 10)
        limiter.acquire()
        val reported = ArrayList<Throwable>()
        reportingTo(reported) {
            store.isAway = true
            delay(1.seconds)
            val failure = runCatching { while (limiter.tryAcquire(10, 2.seconds)) delay(1) }.exceptionOrNull()
            assertTrue(failure is StoreUnavailableException, "$failure")
            val waiting = async { limiter.acquire(10) }
            delay(30.seconds)
            store.isAway = false
            waiting.await()
        }
        assertTrue(currentTime < 40_000, "after $currentTime ms")
    }

    @Test
    fun clockOfTheStoreTurnedBack_stopsTheLimiterForALeaseAtMost() = cluster {
        val limiter = cluster("one").rateLimiter("api", 10 per 1.seconds, burst = 5)
        delay(1.seconds)
        limiter.acquire(5)
        val millis = store.millis
        store.millis = { millis() - 3_600_000 }
        val start = currentTime
        limiter.acquire(5)
        assertTrue(currentTime - start in 400L..12_500L, "after ${currentTime - start} ms")
        val later = currentTime
        repeat(2) { limiter.acquire(5) }
        assertTrue(currentTime - later in 900L..1_200L, "after ${currentTime - later} ms")
    }

    @Test
    fun vanishedDocument_beginsEmptyAfterALease() = cluster {
        val limiter = cluster("one").rateLimiter("api", 1 per 1.seconds, burst = 20)
        take(limiter, 20)
        store.remove("test:rateLimiter:api")
        take(limiter, 20)
        grants.check(1 per 1.seconds, 20)
    }

    @Test
    fun documentThatIsUnusedAndFull_ends_andTheNextBeginsFull() = cluster {
        val limiter = cluster("one").rateLimiter("api", 1 per 1.seconds, burst = 100)
        take(limiter, 100)
        delay(80.seconds)
        assertTrue(store.text("test:rateLimiter:api") != null, "not full yet")
        delay(90.seconds)
        assertEquals(null, store.text("test:rateLimiter:api"))
        val start = currentTime
        take(limiter, 100)
        assertEquals(start, currentTime)
        grants.check(1 per 1.seconds, 100)
    }

    @Test
    fun closedCluster_failsAllCallers() = cluster {
        val one = cluster("one")
        val limiter = one.rateLimiter("api", 1 per 1.minutes, burst = 1)
        limiter.acquire()
        val waiting = async { runCatching { limiter.acquire() } }
        delay(1.seconds)
        one.shutdown()
        assertTrue(waiting.await().exceptionOrNull() is RateLimiterClosedException)
        assertTrue(runCatching { limiter.tryAcquire() }.exceptionOrNull() is RateLimiterClosedException)
        val text = checkNotNull(store.text("test:rateLimiter:api"))
        assertTrue("\"lent\":[],\"queue\":[]" in text, text)
    }
}
