package baton.lincheck

import baton.lincheck.world.Effort
import baton.lincheck.world.LincheckClock
import baton.lincheck.world.NO_OWNER
import baton.lincheck.world.VARIANT
import baton.lincheck.world.underLincheck
import kotlin.time.Duration.Companion.hours
import org.jetbrains.lincheck.datastructures.DSLScenarioBuilder
import org.jetbrains.lincheck.datastructures.IntGen
import org.jetbrains.lincheck.datastructures.Operation
import org.jetbrains.lincheck.datastructures.Param
import org.junit.jupiter.api.Tag

/** Timeouts: a timer may meet the hand-over, the cancellation, and each other. */
@Tag(VARIANT)
open class MutexTimeoutLincheckTest : HonestMutexLincheckBase() {
    override val generated get() = 12

    private val clock = LincheckClock()

    @Operation(cancellableOnSuspension = true, promptCancellation = true)
    suspend fun tryLockTimed(@Param(name = "thread") thread: Int): Boolean =
        underLincheck(clock.timerOf(thread)) { mutex.tryLock(1.hours) }.also { if (it) mine[thread] = NO_OWNER }

    @Operation(cancellableOnSuspension = true, promptCancellation = true)
    suspend fun tryLockTimedBy(@Param(name = "thread") thread: Int): Boolean {
        val owner = ThreadOwner.entries[thread]
        return underLincheck(clock.timerOf(thread)) { mutex.tryLock(1.hours, owner) }
            .also { if (it) mine[thread] = owner }
    }

    @Operation
    fun timePasses(@Param(gen = IntGen::class, conf = "1:3") thread: Int) = clock.timePasses(thread)

    override val scenarios: List<DSLScenarioBuilder.() -> Unit>
        get() = listOf(
            { // The timer meets the hand-over.
                initial { actor(::tryLock, 1) }
                parallel {
                    thread { actor(::unlock, 1) }
                    thread { actor(::tryLockTimed, 2) }
                    thread {
                        actor(::timePasses, 2)
                        actor(::waiting)
                    }
                }
            },
            { // One of the two waiters whose timers go off may be the next holder.
                initial { actor(::tryLock, 1) }
                parallel {
                    thread {
                        actor(::timePasses, 3)
                        actor(::unlock, 1)
                        actor(::timePasses, 2)
                        actor(::holder)
                    }
                    thread { actor(::tryLockTimedBy, 2) }
                    thread { actor(::tryLockTimedBy, 3) }
                }
            },
        )
}

class MutexTimeoutLincheckDeepTest : MutexTimeoutLincheckTest() {
    override val effort get() = Effort.DEEP
}
