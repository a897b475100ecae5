package baton.interop

import baton.sync.ReadWritePolicy
import baton.sync.WaitOrder
import org.junit.jupiter.params.ParameterizedTest
import org.junit.jupiter.params.provider.EnumSource

/** The stress tests of the Java API, for a longer time. */
class FacadeDeepTest {
    @ParameterizedTest
    @EnumSource
    fun permits_underThreadsThatCancelAtRandom_areNeitherLostNorInvented(order: WaitOrder) {
        FacadeStress(4, order, System.nanoTime()).run(8) { it < 2_000_000 }
        FacadeStress(1, order, System.nanoTime()).run(8) { it < 1_000_000 }
    }

    @ParameterizedTest
    @EnumSource
    fun readWriteLock_underThreadsThatCancelAtRandom_keepsWritersAlone(policy: ReadWritePolicy) {
        ReadWriteFacadeStress(policy, System.nanoTime()).run(8) { it < 2_000_000 }
    }
}
