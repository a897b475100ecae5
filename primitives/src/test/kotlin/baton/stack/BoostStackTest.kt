package baton.stack

import baton.Boosting
import baton.Priority
import baton.hostile.ShallowStack
import baton.sync.Mutex
import baton.waiting.holders.Holder
import baton.waiting.holders.prepareHolders
import kotlin.coroutines.CoroutineContext
import kotlin.coroutines.EmptyCoroutineContext
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.api.Test

class BoostStackTest {
    /** A mutex whose holder is to be boosted. */
    private class Boosted : Boosting {
        val mutex = Mutex()
        val holders = mutex.core.prepareHolders()
        var given = 0
            private set

        init {
            mutex.core.tryLock(newOwner = null, Holder(EmptyCoroutineContext, owner = null, boosting = this))
            mutex.core.underLock({ holders.count(Priority.CRITICAL.ordinal, 1) }) { _, woken ->
                check(woken === holders)
            }
        }

        override fun levelOf(context: CoroutineContext) = Priority.LOW

        override fun boost(context: CoroutineContext, level: Priority): Boosting.Boost {
            given++
            return Boosting.Boost { given-- }
        }
    }

    /** The waking thread runs out of stack, at whatever depth. The wake-up is then repeated. */
    @Test
    fun boost_overflow_freesTheLockAndGoesOnWhenRepeated() {
        val overflows =
            ShallowStack.sweep(::Boosted, { it.holders.arrive() }) {
                it.holders.arrive()
                assertEquals(1, it.given)
                it.mutex.unlock()
                assertEquals(0, it.given)
            }
        assertTrue(overflows > 0)
    }
}
