package baton.parallel

import baton.hostile.Exclusion
import baton.hostile.HostileCase
import baton.hostile.HostileCrowd
import baton.hostile.HostileWorld
import baton.hostile.Hostility
import baton.parallel.contract.FlowFace
import baton.parallel.contract.IterableFace
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.params.ParameterizedTest
import org.junit.jupiter.params.provider.ArgumentsSource

/**
 * Maps on dispatchers with faults: no more elements run than may, and a call that returns has mapped all of them. Where
 * a dispatcher throws or drops, kotlinx.coroutines may lose the caller itself, when its scope has ended; an executor's
 * rejection it handles. Its own continuations do not survive a task that is queued although the dispatcher has thrown.
 */
class MapHostilityTest {
    @ParameterizedTest
    @ArgumentsSource(HostileCase.Once::class)
    fun maps_hostileDispatcher_exceedNoLimitAndReturnAllOrThrow(case: HostileCase) {
        if (case == HostileCase(Hostility.QUEUES_AND_THROWS, HostileWorld.INTERCEPTOR)) return
        val loses =
            case.hostility == Hostility.DROPS ||
                case.hostility == Hostility.QUEUES_AND_THROWS ||
                (case.hostility.throws && case.world != HostileWorld.EXECUTOR)
        for (face in listOf(IterableFace, FlowFace)) {
            for (accepts in 0..12) {
                val crowd = HostileCrowd(case, accepts)
                val results = mutableListOf<List<Int>>()
                crowd.pairs(2) {
                    val exclusion = Exclusion(3)
                    pause()
                    val mapped =
                        face.mapLimit((0..9).asSequence(), 3) {
                            exclusion.enter()
                            pause()
                            exclusion.leave()
                            it
                        }
                    exclusion.assertHeld()
                    synchronized(results) { results += mapped }
                }
                crowd.unleash(done = { crowd.members.all { it.hasEnded || (loses && it.isHostile) } }) {}
                for (mapped in results) assertEquals(List(10) { it }, mapped)
                for (member in crowd.members) {
                    if (!member.isHostile) assertEquals("1 null", "${member.returns} ${member.failure}")
                }
            }
        }
    }
}
