package baton.sync.mutex

import baton.hostile.Exclusion
import baton.hostile.HostileCase
import baton.hostile.HostileCrowd
import baton.sync.assertState
import baton.sync.countdown.assertState
import org.junit.jupiter.params.ParameterizedTest
import org.junit.jupiter.params.provider.ArgumentsSource

/**
 * Some of the waiters have a dispatcher with a fault. There are never two holders, each call ends once, and the waiters
 * on a dispatcher that works are served. One promise cannot hold: a mutex granted to a coroutine whose resumption was
 * dropped stays with it.
 */
interface MutexHostility : MutexFixture {
    @ParameterizedTest
    @ArgumentsSource(HostileCase.Once::class)
    fun lock_hostileDispatcher_hasOneHolderAtATimeAndServesTheOthers(case: HostileCase) = handOver(case)

    fun handOver(case: HostileCase) {
        val mutex = mutex(locked = true)
        val crowd = HostileCrowd(case)
        val exclusion = Exclusion(1)
        crowd.pairs(3) {
            repeat(2) {
                mutex.lock()
                exclusion.enter()
                pause()
                exclusion.leave()
                mutex.unlock()
            }
        }
        crowd.unleash(onLost = mutex::unlock, first = mutex::unlock)
        exclusion.assertHeld()
        crowd.assertEnds()
        assertState(mutex, isLocked = false)
    }
}

/** Each resumption comes twice, the second late; it is ignored. */
interface MutexRunTwice : MutexHostility {
    @ParameterizedTest
    @ArgumentsSource(HostileCase.Twice::class)
    fun lock_taskIsRunTwice_secondRunIsIgnored(case: HostileCase) = handOver(case)
}
