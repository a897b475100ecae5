package baton.lincheck

import baton.lincheck.world.Effort
import baton.lincheck.world.LincheckClock
import baton.lincheck.world.Rare
import baton.lincheck.world.VARIANT
import baton.lincheck.world.underLincheck
import kotlin.time.Duration.Companion.hours
import org.jetbrains.lincheck.datastructures.DSLScenarioBuilder
import org.jetbrains.lincheck.datastructures.IntGen
import org.jetbrains.lincheck.datastructures.Operation
import org.jetbrains.lincheck.datastructures.Param
import org.junit.jupiter.api.Tag

/** Timeouts: a timer may meet the grant, the cancellation, the end, and each other. */
@Tag(VARIANT)
open class SemaphoreTimeoutLincheckTest : HonestSemaphoreLincheckBase(3, HonestThreeSequential::class.java) {
    private val clock = LincheckClock()

    @Operation(cancellableOnSuspension = true, promptCancellation = true)
    suspend fun tryAcquireTimed(@Param(name = "thread") thread: Int, @Param(name = "n") n: Int): Boolean =
        underLincheck(clock.timerOf(thread)) { semaphore.tryAcquire(n, 1.hours) }.also { if (it) held[thread] += n }

    @Operation
    fun timePasses(@Param(gen = IntGen::class, conf = "1:3") thread: Int) = clock.timePasses(thread)

    @Rare
    @Operation(runOnce = true)
    fun close() = semaphore.close()

    override val scenarios: List<DSLScenarioBuilder.() -> Unit>
        get() = listOf(
            { // The timer meets the grant.
                initial { actor(::tryAcquire, 1, 3) }
                parallel {
                    thread { actor(::release, 1, 3) }
                    thread { actor(::tryAcquireTimed, 2, 2) }
                    thread {
                        actor(::timePasses, 2)
                        actor(::tryAcquire, 3, 3)
                    }
                }
            },
            { // The timer of an expired request grants the waiter behind it.
                initial { actor(::tryAcquire, 1, 2) }
                parallel {
                    thread {
                        actor(::timePasses, 2)
                        actor(::tryAcquire, 1, 1)
                    }
                    thread { actor(::tryAcquireTimed, 2, 3) }
                    thread { actor(::acquire, 3, 1) }
                }
            },
            { // Two timers and one permit.
                initial { actor(::tryAcquire, 1, 3) }
                parallel {
                    thread {
                        actor(::timePasses, 3)
                        actor(::release, 1, 1)
                        actor(::timePasses, 2)
                        actor(::tryAcquire, 1, 1)
                    }
                    thread { actor(::tryAcquireTimed, 2, 1) }
                    thread { actor(::tryAcquireTimed, 3, 1) }
                }
            },
            { // The timer meets the end.
                initial { actor(::tryAcquire, 1, 3) }
                parallel {
                    thread {
                        actor(::close)
                        actor(::release, 1, 3)
                    }
                    thread { actor(::tryAcquireTimed, 2, 2) }
                    thread { actor(::timePasses, 2) }
                }
            },
        )
}

class SemaphoreTimeoutLincheckDeepTest : SemaphoreTimeoutLincheckTest() {
    override val effort get() = Effort.DEEP
}
