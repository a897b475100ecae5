package baton.stack

import baton.sync.Latch
import baton.sync.countdown.waitGroup
import kotlinx.coroutines.selects.select
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.params.ParameterizedTest
import org.junit.jupiter.params.provider.EnumSource

/** Many waiters and one count-down, and count-downs one upon the other. Runs with a small stack. */
class CountdownStackTest : StackRun() {
    @ParameterizedTest
    @EnumSource
    fun latch_openedForMany(world: World) {
        val latch = Latch(1)
        releaseMany(world, { latch.await() }, { latch.waiting }, { latch.countDown() })
    }

    @ParameterizedTest
    @EnumSource
    fun latch_openedForManySelects(world: World) {
        val latch = Latch(1)
        repeat(MANY) { start(world.context) { select { latch.onAwait {} } } }
        latch.countDown()
        assertEquals(MANY, done)
    }

    /** Each released waiter opens the latch of the next. */
    @ParameterizedTest
    @EnumSource
    fun latches_openedInAChain(world: World) {
        val last = openInAChain(world, MANY, { Latch(1) }, { it.await() }, { it.countDown() })
        assertEquals(0, last.count)
    }

    /** Each released waiter takes the group through zero again, for all waiters that arrived since. */
    @ParameterizedTest
    @EnumSource
    fun waitGroup_throughZeroByThoseLetIn(world: World) {
        val group = waitGroup(1)
        reopenInAChain(world, MANY, { group.await() }, { group.add() }, { group.done() })
        assertEquals("count = 0, waiting = 0", "count = ${group.count}, waiting = ${group.waiting}")
    }
}
