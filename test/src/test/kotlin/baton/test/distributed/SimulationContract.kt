package baton.test.distributed

import baton.test.SimulatedFaults
import baton.test.simulate
import kotlin.time.Duration.Companion.hours
import kotlin.time.Duration.Companion.seconds
import org.junit.jupiter.api.Test

/** Nodes that share a semaphore while the store, the network and the machines fail, [seeds] in all. */
abstract class SimulationContract(private val seeds: Int) {
    private fun simulated(share: Int, faults: SimulatedFaults.() -> Unit) =
        simulate(seeds * share / SHARES, lease = 9.seconds, duration = 2.hours) {
            SharedWork(this).start()
            faults(faults)
        }

    @Test fun withoutFaults_allCallsEnd() = simulated(1) {}

    @Test
    fun callsThatGoWrong_grantNeverTooMuch() =
        simulated(2) {
            delayCalls()
            refuseCalls(0.1)
            loseRequests(0.1)
            loseAnswers(0.1)
            repeatCalls(0.1)
            loseBells()
            driftClocks()
        }

    @Test
    fun machinesThatFail_grantNeverTooMuch() =
        simulated(3) {
            delayCalls(0.05)
            loseRequests()
            loseAnswers()
            driftClocks()
            stop(15.seconds)
            stop(2.seconds)
            cutOff(20.seconds)
            outage(10.seconds)
            jumpClock()
        }

    @Test
    fun storeThatLosesDocuments_grantsNeverTooMuch() =
        simulated(2) {
            delayCalls(0.05)
            loseRequests()
            loseAnswers()
            loseDocument(times = 1)
            emptyStore()
        }

    @Test
    fun allAtOnce_grantsNeverTooMuch() =
        simulated(2) {
            delayCalls()
            refuseCalls()
            loseRequests()
            loseAnswers()
            repeatCalls()
            loseBells()
            driftClocks()
            stop(15.seconds)
            kill()
            cutOff(20.seconds)
            jumpClock()
            loseDocument(times = 1)
            emptyStore()
        }

    private companion object {
        const val SHARES = 10
    }
}
