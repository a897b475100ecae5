package baton.sync.semaphore.contract

import baton.hostile.Exclusion
import baton.hostile.HostileCase
import baton.hostile.HostileCrowd
import baton.sync.WaitOrder
import baton.sync.assertState
import baton.sync.countdown.assertState
import baton.sync.mutex.MutexHostility
import org.junit.jupiter.params.ParameterizedTest
import org.junit.jupiter.params.provider.ArgumentsSource

/**
 * As [MutexHostility], with light and heavy requests. An unfair semaphore invites its head to take a permit; where the
 * invitation is dropped, no waiter is served until the head is cancelled.
 */
interface SemaphoreHostility : SemaphoreFixture {
    @ParameterizedTest
    @ArgumentsSource(HostileCase.Once::class)
    fun acquire_hostileDispatcher_exceedsNoPermitsAndServesTheOthers(case: HostileCase) = handOver(case)

    fun handOver(case: HostileCase) {
        for (order in WaitOrder.entries) {
            val semaphore = semaphore(2, acquired = 2, order = order)
            val crowd = HostileCrowd(case)
            val exclusion = Exclusion(2)
            crowd.pairs(3) {
                // A heavy request needs more permits than a light one on the hostile dispatcher holds.
                val weight = if (isHostile) 1 else 2
                repeat(2) {
                    semaphore.acquire(weight)
                    exclusion.enter(weight)
                    pause()
                    exclusion.leave(weight)
                    semaphore.release(weight)
                }
            }
            crowd.unleash(onLost = { giveBack(semaphore, crowd) }) { semaphore.release(2) }
            exclusion.assertHeld()
            crowd.assertEnds()
            assertState(semaphore, available = 2)
        }
    }

    /** A lost coroutine was granted its permit, unless an unfair semaphore had only invited it. */
    private fun giveBack(semaphore: SemaphoreFace, crowd: HostileCrowd) {
        try {
            semaphore.release()
        } catch (_: IllegalStateException) {
            crowd.cancelHostile()
        }
    }
}

/** Each resumption comes twice, the second late; it is ignored. */
interface SemaphoreRunTwice : SemaphoreHostility {
    @ParameterizedTest
    @ArgumentsSource(HostileCase.Twice::class)
    fun acquire_taskIsRunTwice_secondRunIsIgnored(case: HostileCase) = handOver(case)
}
