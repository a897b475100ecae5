package baton.sync.barrier

import baton.hostile.HostileCase
import baton.hostile.HostileCrowd
import baton.sync.BarrierCancellation
import baton.sync.assertState
import baton.sync.countdown.assertState
import java.util.concurrent.ConcurrentLinkedQueue
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.params.ParameterizedTest
import org.junit.jupiter.params.provider.ArgumentsSource

/**
 * Some of the parties have a dispatcher with a fault. The barrier trips all the same, once, and the parties on a
 * dispatcher that works go on.
 */
interface BarrierHostility : BarrierFixture {
    @ParameterizedTest
    @ArgumentsSource(HostileCase.All::class)
    fun arrive_hostileDispatcher_tripsOnceAndLetsTheOthersGoOn(case: HostileCase) {
        for (onCancel in BarrierCancellation.entries) {
            var trips = 0
            val barrier = barrier(7, onCancel) { trips++ }
            val crowd = HostileCrowd(case)
            val indices = ConcurrentLinkedQueue<Int>()
            crowd.pairs(3) { indices += barrier.arrive() }
            crowd.unleash(onLost = {}) { crowd.sane("last") { indices += barrier.arrive() } }
            // A trip cannot be taken back: a refused party may return from it normally.
            crowd.assertEnds(isTaken = true)
            assertEquals(1, trips)
            assertEquals(indices.size, indices.toSet().size, "$indices")
            assertState(barrier, waiting = 0)
        }
    }
}
