package baton.sync.countdown

import baton.hostile.HostileCase
import baton.hostile.HostileCrowd
import baton.lincheck.world.letIn
import baton.sync.assertState
import org.junit.jupiter.params.ParameterizedTest
import org.junit.jupiter.params.provider.ArgumentsSource

/** Some of the waiters have a dispatcher with a fault. The others are released. */
interface CountdownHostility : CountdownFixture {
    @ParameterizedTest
    @ArgumentsSource(HostileCase.Once::class)
    fun await_hostileDispatcher_letsTheOthersIn(case: HostileCase) = letIn(case)

    fun letIn(case: HostileCase) {
        val countdown = countdown(1)
        val crowd = HostileCrowd(case)
        crowd.pairs(3) { countdown.await() }
        crowd.unleash { countdown.down() }
        crowd.assertEnds()
        assertState(countdown, count = 0)
    }
}

/** Each resumption comes twice, the second late; it is ignored. */
interface CountdownRunTwice : CountdownHostility {
    @ParameterizedTest
    @ArgumentsSource(HostileCase.Twice::class)
    fun await_taskIsRunTwice_secondRunIsIgnored(case: HostileCase) = letIn(case)
}
