package baton.distributed

import baton.reportingTo
import kotlin.coroutines.ContinuationInterceptor
import kotlin.random.Random
import kotlin.time.Duration.Companion.milliseconds
import kotlin.time.Duration.Companion.minutes
import kotlin.time.Duration.Companion.seconds
import kotlinx.coroutines.CoroutineDispatcher
import kotlinx.coroutines.Job
import kotlinx.coroutines.async
import kotlinx.coroutines.awaitAll
import kotlinx.coroutines.cancelAndJoin
import kotlinx.coroutines.currentCoroutineContext
import kotlinx.coroutines.delay
import kotlinx.coroutines.job
import kotlinx.coroutines.launch
import kotlinx.coroutines.test.currentTime
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertFalse
import org.junit.jupiter.api.Assertions.assertNotNull
import org.junit.jupiter.api.Assertions.assertNull
import org.junit.jupiter.api.Assertions.assertThrows
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.api.Test

/** Members of one store, in virtual time. */
class ClusterTest : ClusterFixture() {
    @Test
    fun permits_ofTwoMembers_areNeverExceeded() = cluster {
        val semaphores = List(3) { cluster("m$it").semaphore("uplink", permits = 2) }
        var inside = 0
        var most = 0
        var done = 0
        val jobs =
            List(60) { i ->
                async {
                    semaphores[i % 3].withPermit {
                        inside++
                        most = maxOf(most, inside)
                        delay(Random(i).nextLong(20))
                        inside--
                        done++
                    }
                }
            }
        jobs.awaitAll()
        assertEquals(60, done)
        assertEquals(2, most)
        assertEquals(0, semaphores.sumOf { it.waiting })
    }

    @Test
    fun weights_areGrantedAtOnceOrNotAtAll() = cluster {
        val semaphores = List(3) { cluster("m$it").semaphore("memory", permits = 5) }
        var inside = 0
        List(60) { i ->
                async {
                    val weight = 1 + i % 5
                    semaphores[i % 3].withPermits(weight) {
                        inside += weight
                        assertTrue(inside <= 5)
                        delay(i % 7L)
                        inside -= weight
                    }
                }
            }
            .awaitAll()
        assertEquals(0, inside)
    }

    @Test
    fun keptPermit_isTakenAgainWithoutACall() = cluster {
        val mutex = cluster("one").mutex("account")
        mutex.withLock {}
        val before = store.calls
        repeat(100) { mutex.withLock {} }
        assertEquals(before, store.calls)
    }

    @Test
    fun keptPermit_goesToTheMemberThatWantsIt() = cluster {
        val one = cluster("one").mutex("account")
        val other = cluster("other").mutex("account")
        one.withLock {}
        val start = currentTime
        other.withLock {}
        assertTrue(currentTime - start < 100, "after ${currentTime - start} ms")
    }

    @Test
    fun tokens_growFromGrantToGrant() = cluster {
        val mutexes = List(3) { cluster("m$it").mutex("account") }
        val tokens = ArrayList<Long>()
        List(30) { i -> async { mutexes[i % 3].withLock { tokens += it.fencingToken } } }.awaitAll()
        assertEquals(tokens.sorted().distinct(), tokens)
    }

    @Test
    fun callersOfAnotherMember_areServedInTurn() = cluster {
        val one = cluster("one").mutex("account")
        val other = cluster("other").mutex("account")
        val first = one.lock()
        val busy = List(200) { launch { one.withLock { delay(1.milliseconds) } } }
        val start = currentTime
        val waiting = async { other.withLock { currentTime - start } }
        delay(1.milliseconds)
        first.release()
        assertTrue(waiting.await() <= 40, "after ${waiting.await()} ms")
        busy.forEach { it.join() }
    }

    @Test
    fun cancelledWaiter_leavesNoPlace() = cluster {
        val one = cluster("one").mutex("account")
        val other = cluster("other").mutex("account")
        val lease = one.lock()
        val waiting = launch { other.lock() }
        delay(10.milliseconds)
        assertTrue(checkNotNull(store.text("test:mutex:account")).contains("\"queue\":[{"))
        waiting.cancelAndJoin()
        delay(10.milliseconds)
        assertTrue(checkNotNull(store.text("test:mutex:account")).contains("\"queue\":[]"))
        lease.release()
        one.withLock {}
    }

    @Test
    fun tryLock_ofAHeldMutex_returnsNullAndLeavesNothing() = cluster {
        val one = cluster("one").mutex("account")
        val other = cluster("other").mutex("account")
        val lease = checkNotNull(one.tryLock())
        assertNull(other.tryLock())
        assertNull(other.tryLock(100.milliseconds))
        lease.release()
        assertNotNull(other.tryLock())
    }

    @Test
    fun closedMember_losesItsLeases_andOthersGetThemAfterALease() = cluster {
        val first = cluster("one")
        val lease = first.mutex("account").lock()
        var told = false
        lease.onLost { told = true }
        first.close()
        assertTrue(told)
        assertFalse(lease.isHeld)
        assertThrows(LeaseLostException::class.java) { lease.check() }
        val start = currentTime
        cluster("other").mutex("account").withLock {}
        assertTrue(currentTime - start in 9_000L..13_400L, "after ${currentTime - start} ms")
    }

    @Test
    fun storeAwayForALease_losesTheLease_andItsBlockIsCancelled() = cluster {
        val mutex = cluster("one").mutex("account")
        var cancelledAt = 0L
        val call = async {
            runCatching {
                mutex.withLock {
                    try {
                        delay(1.minutes)
                    } finally {
                        cancelledAt = currentTime
                    }
                }
            }
        }
        delay(1.seconds)
        store.isAway = true
        val failure = call.await().exceptionOrNull()
        assertTrue(failure is LeaseLostException, "$failure")
        assertTrue(cancelledAt in 6_000L..9_000L, "at $cancelledAt")
        assertTrue(currentCoroutineContext().job.isActive)
        store.isAway = false
        mutex.withLock {}
    }

    @Test
    fun timeoutWhileTheStoreIsAway_namesTheStore() = cluster {
        val mutex = cluster("one").mutex("account")
        store.isAway = true
        val failure = runCatching { mutex.tryLock(5.seconds) }.exceptionOrNull()
        assertTrue(failure is StoreUnavailableException, "$failure")
    }

    @Test
    fun outage_isReportedOnce_andAskedAboutOnceASecond() = cluster {
        val semaphores = cluster("one").let { one -> List(20) { one.mutex("m$it") } }
        semaphores[0].withLock {}
        val reported = ArrayList<Throwable>()
        reportingTo(reported) {
            store.isAway = true
            val waiting = semaphores.map { launch { it.lock() } }
            delay(60.seconds)
            waiting.forEach { it.cancel() }
        }
        assertEquals(1, reported.size, "$reported")
        // The locks once a second, the heartbeat every ninth of a lease until all is lost.
        assertTrue(store.refused in 30..90, "${store.refused} calls")
    }

    /** A watch of the holder asked again after a nanosecond, once the lease had passed. */
    @Test
    fun storeThatRefusesAtOnce_isAskedByAWaiterWithPauses() = cluster {
        cluster("one").mutex("account").lock()
        val waiting = launch { cluster("other").mutex("account").lock() }
        delay(1.seconds)
        val reported = ArrayList<Throwable>()
        reportingTo(reported) {
            store.isAway = true
            delay(60.seconds)
        }
        waiting.cancelAndJoin()
        assertTrue(store.refused < 300, "${store.refused} calls")
    }

    /** The lock that found it missing granted nothing any more. */
    @Test
    fun epochThatVanishesAsItIsWritten_isWrittenAnew() = cluster {
        store.vanishing = "test:epoch"
        cluster("one").mutex("account").withLock {}
        assertNotNull(store.text("test:epoch"))
    }

    @Test
    fun permitThatIsNotKept_goesBackAtOnce() = cluster {
        cluster("one").mutex("account", keep = false).withLock {}
        delay(1.milliseconds)
        assertTrue(checkNotNull(store.text("test:mutex:account")).contains("\"held\":[]"))
    }

    @Test
    fun jobOfTheContext_cancelled_failsTheCallers() = cluster {
        val job = Job()
        val dispatcher = coroutineContext[ContinuationInterceptor] as CoroutineDispatcher
        val mutex = Cluster.open(store, context = dispatcher + job).also { clusters += it }.mutex("account")
        val lease = mutex.lock()
        val waiting = async { runCatching { mutex.lock() } }
        delay(1.seconds)
        job.cancelAndJoin()
        assertTrue(waiting.await().isFailure)
        assertFalse(lease.isHeld)
        assertTrue(runCatching { mutex.lock() }.isFailure)
    }

    @Test
    fun vanishedDocument_isToldToItsHolder_andGrantsNothingForALease() = cluster {
        val one = cluster("one").mutex("account")
        val other = cluster("other").mutex("account")
        val lease = one.lock()
        other.tryLock()
        val start = currentTime
        store.remove("test:mutex:account")
        var lostAfter = 0L
        lease.onLost { lostAfter = currentTime - start }
        other.withLock {}
        assertTrue(lostAfter in 1L..3_400L, "lost after $lostAfter ms")
        assertTrue(currentTime - start >= 9_900L, "granted after ${currentTime - start} ms")
    }

    @Test
    fun garbageInTheStore_isNamed_andNothingIsGranted() = cluster {
        val mutex = cluster("one").mutex("account")
        store.compareAndSet("test:mutex:account", 0, StoredDocument(1, "garbage"), emptyList())
        val failure = runCatching { mutex.lock() }.exceptionOrNull()
        assertTrue(checkNotNull(failure?.cause?.message).contains("test:mutex:account"), "$failure")
    }

    @Test
    fun shutdown_waitsForTheLease_andGivesItBack() = cluster {
        val first = cluster("one")
        val lease = first.mutex("account").lock()
        val end = async { first.shutdown() }
        delay(1.seconds)
        assertFalse(end.isCompleted)
        lease.release()
        end.await()
        val start = currentTime
        cluster("other").mutex("account").withLock {}
        assertTrue(currentTime - start < 100, "after ${currentTime - start} ms")
    }

    @Test
    fun tokens_ofAKeptMutex_growBeyondTheirFirstRange() = cluster {
        val mutex = cluster("one").mutex("account")
        var last = 0L
        repeat(25_000) {
            mutex.withLock { lease ->
                assertTrue(lease.fencingToken > last, "${lease.fencingToken} after $last")
                last = lease.fencingToken
            }
        }
    }

    @Test
    fun resizeBelowWhatIsInUse_givesTheRestBack() = cluster {
        val one = cluster("one").semaphore("uplink", permits = 5)
        val other = cluster("other").semaphore("uplink", permits = 5)
        val leases = List(5) { one.acquire() }
        one.resize(2)
        delay(1.seconds)
        leases.forEach { it.release() }
        one.withPermits(2) {}
        assertEquals(2, one.permits)
        assertEquals(5, other.permits)
    }

    @Test
    fun cancelledTimedRequests_leaveNothing() = cluster {
        val one = cluster("one").mutex("account")
        repeat(50) { i ->
            val held = one.lock()
            val timed = launch { one.tryLock(1.seconds)?.release() }
            val now = launch { one.tryLock()?.release() }
            delay((i % 3).milliseconds)
            launch { held.release() }
            timed.cancel()
            now.cancel()
            timed.join()
            now.join()
        }
        assertNotNull(one.tryLock(1.seconds))
    }
}
