package baton.distributed

import baton.reportingTo
import baton.sync.SemaphoreClosedException
import kotlin.time.Duration.Companion.milliseconds
import kotlin.time.Duration.Companion.minutes
import kotlin.time.Duration.Companion.seconds
import kotlinx.coroutines.async
import kotlinx.coroutines.awaitCancellation
import kotlinx.coroutines.cancelAndJoin
import kotlinx.coroutines.currentCoroutineContext
import kotlinx.coroutines.delay
import kotlinx.coroutines.job
import kotlinx.coroutines.launch
import kotlinx.coroutines.test.currentTime
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertFalse
import org.junit.jupiter.api.Assertions.assertNull
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.api.Test

/** Members that choose a leader, in virtual time. */
class DistributedLeaderTest : ClusterFixture() {
    @Test
    fun oneOfTheMembersLeads_andTheNextOneAfterIt() = cluster {
        val leaders = List(3) { cluster("m$it").leader("cleaner") }
        val order = ArrayList<Int>()
        var inside = 0
        leaders
            .mapIndexed { i, leader ->
                async {
                    leader.run {
                        order += i
                        inside++
                        assertEquals(1, inside)
                        assertTrue(leader.isLeader)
                        assertEquals("m$i", leader.leader?.member)
                        delay(1.seconds)
                        inside--
                        i
                    }
                }
            }
            .forEachIndexed { i, call -> assertEquals(i, call.await()) }
        assertEquals(listOf(0, 1, 2), order)
        assertFalse(leaders.any { it.isLeader })
    }

    @Test
    fun otherMembers_seeTheNameOfTheLeader() = cluster {
        val one = cluster("one").leader("cleaner")
        val other = cluster("other").leader("cleaner")
        assertNull(one.leader)
        val leading = launch { one.run { awaitCancellation() } }
        delay(10.milliseconds)
        val waiting = launch { other.run {} }
        delay(10.milliseconds)
        assertEquals("one", other.leader?.member)
        assertTrue("'one' since 2026-01-01T00:00:00" in "${other.leader}" || "'one' since" in "$other", "$other")
        assertFalse(other.isLeader)
        leading.cancelAndJoin()
        waiting.join()
    }

    @Test
    fun lostLease_cancelsTheBlock_andRunsItAgain() = cluster {
        val leader = cluster("one").leader("cleaner")
        var rounds = 0
        val cancelledAt = ArrayList<Long>()
        val call = async {
            leader.run { lease ->
                rounds++
                if (rounds == 2) return@run lease.fencingToken
                try {
                    awaitCancellation()
                } finally {
                    cancelledAt += currentTime
                }
            }
        }
        delay(1.seconds)
        val reported = ArrayList<Throwable>()
        reportingTo(reported) {
            store.isAway = true
            delay(20.seconds)
            assertFalse(leader.isLeader)
            store.isAway = false
            assertTrue(call.await() > 0)
        }
        assertEquals(2, rounds)
        assertTrue(cancelledAt.single() in 6_000L..9_800L, "at $cancelledAt")
    }

    @Test
    fun exceptionAfterALoss_isReported() = cluster {
        val leader = cluster("one").leader("cleaner")
        val failure = IllegalArgumentException("at the end")
        var rounds = 0
        val reported = ArrayList<Throwable>()
        reportingTo(reported) {
            val call = launch {
                leader.run {
                    if (++rounds == 1) {
                        try {
                            awaitCancellation()
                        } finally {
                            throw failure
                        }
                    }
                }
            }
            delay(1.seconds)
            store.isAway = true
            delay(20.seconds)
            store.isAway = false
            call.join()
        }
        // coroutineScope throws a copy.
        assertTrue(reported.any { it === failure || it.cause === failure }, "$reported")
        assertEquals(2, rounds)
    }

    @Test
    fun exceptionOfTheBlock_isThrown_andTheNextMemberLeads() = cluster {
        val one = cluster("one").leader("cleaner")
        val failure = LeaseLostException("of another lock", null)
        val thrown = runCatching { one.run { throw failure } }.exceptionOrNull()
        assertTrue(thrown === failure || thrown?.cause === failure, "$thrown")
        val start = currentTime
        cluster("other").leader("cleaner").run {}
        assertTrue(currentTime - start < 100, "after ${currentTime - start} ms")
    }

    @Test
    fun cancelledCaller_givesTheLeadershipUp() = cluster {
        val one = cluster("one").leader("cleaner")
        val call = launch { one.run { awaitCancellation() } }
        delay(10.milliseconds)
        call.cancelAndJoin()
        val start = currentTime
        cluster("other").leader("cleaner").run {}
        assertTrue(currentTime - start < 100, "after ${currentTime - start} ms")
    }

    @Test
    fun shutdown_cancelsTheBlock_waitsForItsEnd_andTheNextMemberLeadsAtOnce() = cluster {
        val first = cluster("one")
        var isEnded = false
        val call = async {
            runCatching {
                first.leader("cleaner").run {
                    try {
                        delay(1.minutes)
                    } finally {
                        kotlinx.coroutines.withContext(kotlinx.coroutines.NonCancellable) { delay(1.seconds) }
                        isEnded = true
                    }
                }
            }
        }
        delay(10.milliseconds)
        first.shutdown()
        assertTrue(isEnded)
        assertTrue(call.await().exceptionOrNull() is SemaphoreClosedException, "${call.await()}")
        assertTrue(currentCoroutineContext().job.isActive)
        val start = currentTime
        cluster("other").leader("cleaner").run {}
        assertTrue(currentTime - start < 100, "after ${currentTime - start} ms")
    }

    @Test
    fun deadLeader_isFollowedAfterALease() = cluster {
        val first = cluster("one")
        launch { runCatching { first.leader("cleaner").run { awaitCancellation() } } }
        delay(10.milliseconds)
        val start = currentTime
        first.close()
        cluster("other").leader("cleaner").run {}
        assertTrue(currentTime - start in 9_000L..13_400L, "after ${currentTime - start} ms")
    }
}
