package baton.shared

import baton.shared.word.BarrierWord
import baton.sync.BarrierBrokenException
import baton.sync.BarrierTimeoutException
import kotlin.time.Duration
import kotlin.time.Duration.Companion.milliseconds
import kotlin.time.Duration.Companion.minutes
import kotlin.time.Duration.Companion.seconds
import kotlinx.coroutines.CoroutineStart
import kotlinx.coroutines.Deferred
import kotlinx.coroutines.Dispatchers
import kotlinx.coroutines.async
import kotlinx.coroutines.awaitAll
import kotlinx.coroutines.cancelAndJoin
import kotlinx.coroutines.coroutineScope
import kotlinx.coroutines.delay
import kotlinx.coroutines.launch
import kotlinx.coroutines.runBlocking
import kotlinx.coroutines.supervisorScope
import kotlinx.coroutines.withTimeout
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertFalse
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.api.Tag
import org.junit.jupiter.api.Test
import org.junit.jupiter.api.assertThrows
import org.junit.jupiter.params.ParameterizedTest
import org.junit.jupiter.params.provider.ValueSource

@Tag("jdk")
class SharedBarrierTest : TwoMembers() {
    private val mine: SharedBarrier
        get() = here.barrier("b", parties = 3)

    private val others: SharedBarrier
        get() = there.barrier("b", parties = 3)

    private suspend fun awaitArrived(number: Int) =
        withTimeout(2.minutes) { while (!"$others".endsWith("arrived = $number)")) delay(1) }

    private inline fun <reified T : Throwable> assertFails(party: Deferred<*>) =
        assertThrows<T> { runBlocking { withTimeout(2.minutes) { party.await() } } }

    @Test
    fun arrive_ofTheLastParty_releasesAllAndBeginsAgain() = runBlocking {
        repeat(5) {
            val first = async { mine.arrive() }
            awaitArrived(1)
            val second = async { others.arrive() }
            awaitArrived(2)
            assertFalse(first.isCompleted)
            assertEquals(0, mine.arrive())
            assertEquals(listOf(2, 1), withTimeout(2.minutes) { listOf(first, second).awaitAll() })
            awaitArrived(0)
        }
    }

    /** The parties begin on one thread, and none looks again before all have begun. */
    @Test
    fun arrive_manyPhasesBeforeAPartyLooks_releasesAll() = runBlocking {
        val pairs = here.barrier("pairs", parties = 2)
        val all = List(100) { async(start = CoroutineStart.UNDISPATCHED) { pairs.arrive() } }
        assertEquals(List(100) { 1 - it % 2 }, withTimeout(2.minutes) { all.awaitAll() })
    }

    @Test
    fun arrive_ofOneParty_neverWaits() = runBlocking {
        val alone = here.barrier("alone", parties = 1)
        repeat(100) { assertEquals(0, if (it % 2 == 0) alone.arrive() else alone.arrive(-Duration.INFINITE)) }
    }

    @ParameterizedTest
    @ValueSource(ints = [Int.MIN_VALUE, -1, 0, BarrierWord.MAX_PARTIES + 1, Int.MAX_VALUE])
    fun barrier_ofPartiesOutOfRange_throwsAndAddsNoName(parties: Int) {
        val refusal = assertThrows<IllegalArgumentException> { here.barrier("new", parties) }
        assertEquals("parties = $parties of barrier 'new', must be within 1..1048575", refusal.message)
        here.mutex("new")
    }

    @Test
    fun barrier_ofOtherParties_isRefused() {
        mine
        val refusal = assertThrows<SharedRegionException> { there.barrier("b", parties = 4) }
        val found = "'b' is a barrier of parties = 3, not a barrier of parties = 4"
        assertEquals("${path.toRealPath()}: $found", refusal.message)
        assertThrows<SharedRegionException> { here.waitGroup("b") }
        here.barrier("most", BarrierWord.MAX_PARTIES)
    }

    @Test
    fun cancel_ofAWaitingParty_breaksTheBarrierForAllUntilReset() = runBlocking {
        supervisorScope {
            val cancelled = async(Dispatchers.Default) { mine.arrive() }
            awaitArrived(1)
            val party = async(Dispatchers.Default) { others.arrive() }
            awaitArrived(2)
            cancelled.cancelAndJoin()
            val broken = assertFails<BarrierBrokenException>(party)
            val label = "SharedBarrier 'b' of ${path.toRealPath()}"
            assertTrue("$label is broken, or was reset while the caller waited" in "$broken", "$broken")
            assertTrue(mine.isBroken)
            assertEquals("$label (parties = 3, broken)", "$mine")
            for (late in listOf(mine, others)) {
                assertThrows<BarrierBrokenException> { runBlocking { late.arrive() } }
                assertThrows<BarrierBrokenException> { runBlocking { late.arrive(Duration.ZERO) } }
            }
            others.reset()
            assertFalse(mine.isBroken)
        }
        assertTrips()
    }

    private suspend fun assertTrips() = coroutineScope {
        val parties = listOf(mine, others, mine).map { async(Dispatchers.Default) { it.arrive(60.seconds) } }
        assertEquals(listOf(0, 1, 2), parties.awaitAll().sorted())
    }

    @Test
    fun arrive_withATimeoutThatEnds_breaksTheBarrier() = runBlocking {
        for (timeout in listOf(30.milliseconds, Duration.ZERO, (-1).seconds, -Duration.INFINITE)) {
            supervisorScope {
                val party = async(Dispatchers.Default) { others.arrive() }
                awaitArrived(1)
                val late = assertThrows<BarrierTimeoutException> { runBlocking { mine.arrive(timeout) } }
                assertTrue(late.message.orEmpty().startsWith("not all arrived within $timeout: "), late.message)
                assertFails<BarrierBrokenException>(party)
            }
            mine.reset()
        }
        assertTrips()
    }

    @Test
    fun reset_whilePartiesWait_failsThem() = runBlocking {
        supervisorScope {
            val parties = listOf(mine, others).map { async(Dispatchers.Default) { it.arrive() } }
            awaitArrived(2)
            others.reset()
            parties.forEach { assertFails<BarrierBrokenException>(it) }
        }
        assertFalse(mine.isBroken)
        assertTrips()
    }

    @Test
    fun regionClose_whileAPartyWaits_breaksTheBarrier() = runBlocking {
        val barrier = mine
        supervisorScope {
            val closed = async(Dispatchers.Default) { barrier.arrive() }
            awaitArrived(1)
            val party = async(Dispatchers.Default) { others.arrive() }
            awaitArrived(2)
            here.close()
            assertFails<BarrierBrokenException>(party)
            assertFails<SharedRegionException>(closed)
        }
        assertTrue(others.isBroken)
        for (call in listOf({ barrier.reset() }, { barrier.isBroken }, { runBlocking { barrier.arrive() } })) {
            assertThrows<SharedRegionException> { call() }
        }
    }

    @Test
    fun regionClose_afterTheBarrierTripped_breaksNothing() = runBlocking {
        assertTrips()
        here.close()
        assertFalse(others.isBroken)
    }

    @Test
    fun phases_ofManyPartiesOfBothMembers_areKeptApart() = runBlocking {
        val phases = 200
        val progress = java.util.concurrent.atomic.AtomicIntegerArray(3)
        coroutineScope {
            repeat(3) { party ->
                launch(Dispatchers.Default) {
                    val barrier = if (party == 1) others else mine
                    repeat(phases) { phase ->
                        progress.set(party, phase)
                        barrier.arrive(60.seconds)
                        for (other in 0 until 3) assertTrue(progress.get(other) in phase..phase + 1)
                    }
                }
            }
        }
        awaitArrived(0)
    }
}
