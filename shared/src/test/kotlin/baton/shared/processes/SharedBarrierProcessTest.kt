package baton.shared.processes

import baton.shared.SharedBarrier
import baton.shared.SharedRegion
import baton.sync.BarrierBrokenException
import kotlin.time.Duration.Companion.milliseconds
import kotlin.time.Duration.Companion.minutes
import kotlinx.coroutines.Dispatchers
import kotlinx.coroutines.async
import kotlinx.coroutines.delay
import kotlinx.coroutines.runBlocking
import kotlinx.coroutines.supervisorScope
import kotlinx.coroutines.withTimeout
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.api.Test
import org.junit.jupiter.api.assertThrows

class SharedBarrierProcessTest : ChildProcesses() {
    private fun withBarrier(test: suspend (SharedBarrier) -> Unit) =
        SharedRegion.open(path).use { region ->
            runBlocking { withTimeout(2.minutes) { test(region.barrier("b", parties = 3)) } }
        }

    private suspend fun awaitArrived(barrier: SharedBarrier, number: Int) {
        while (!"$barrier".endsWith("arrived = $number)")) delay(1.milliseconds)
    }

    @Test
    fun party_thatIsKilledWhileItWaits_breaksTheBarrierForAll() = withBarrier { barrier ->
        val victim = start("arrive")
        awaitArrived(barrier, 1)
        supervisorScope {
            val party = async(Dispatchers.Default) { barrier.arrive() }
            awaitArrived(barrier, 2)
            kill(victim)
            assertThrows<BarrierBrokenException> { runBlocking { party.await() } }
        }
        assertTrue(barrier.isBroken)
    }

    @Test
    fun party_thatWaitsForAKilledOne_isToldInAnotherProcess() = withBarrier { barrier ->
        val victim = start("arrive")
        awaitArrived(barrier, 1)
        val party = start("arrive")
        awaitArrived(barrier, 2)
        kill(victim)
        party.expect("broken")
    }

    @Test
    fun parties_ofThreeProcesses_goOnTogether() = withBarrier { barrier ->
        val parties = List(2) { start("arrive") }
        awaitArrived(barrier, 2)
        assertEquals(0, barrier.arrive())
        assertEquals(listOf("1", "2"), parties.map { it.inputReader().readLine() }.sorted())
    }
}
