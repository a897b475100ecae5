package baton.sync.condition

import baton.hostile.Exclusion
import baton.hostile.HostileCase
import baton.hostile.HostileCrowd
import baton.sync.assertState
import baton.sync.countdown.assertState
import org.junit.jupiter.params.ParameterizedTest
import org.junit.jupiter.params.provider.ArgumentsSource

/**
 * Some of the waiters have a dispatcher with a fault. Each that returns has the mutex, alone, and the waiters on a
 * dispatcher that works get their signal. One promise cannot hold: a coroutine whose resumption was dropped keeps the
 * mutex with which it was to return.
 */
interface ConditionHostility : ConditionFixture {
    @ParameterizedTest
    @ArgumentsSource(HostileCase.All::class)
    fun await_hostileDispatcher_comesBackWithTheMutexAlone(case: HostileCase) {
        val condition = condition()
        val mutex = condition.mutex
        val crowd = HostileCrowd(case)
        val exclusion = Exclusion(1)
        crowd.pairs(3) {
            mutex.lock()
            try {
                condition.await()
            } finally {
                exclusion.enter()
                if (!job.isCancelled) pause()
                exclusion.leave()
                mutex.unlock()
            }
        }
        crowd.unleash(onLost = mutex::unlock) {
            check(mutex.tryLock())
            condition.signalAll()
            mutex.unlock()
        }
        exclusion.assertHeld()
        crowd.assertEnds()
        assertState(condition, isLocked = false)
    }
}
