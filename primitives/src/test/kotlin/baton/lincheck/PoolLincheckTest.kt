package baton.lincheck

import baton.lincheck.world.LincheckCase
import baton.lincheck.world.PoolSequential
import baton.lincheck.world.Scenario
import baton.lincheck.world.after
import baton.lincheck.world.threads
import baton.lincheck.world.underLincheck
import baton.monitoring.Monitored
import baton.monitoring.Usage
import baton.sync.core.PoolCore
import baton.waiting.coroutine.awaitGrant
import org.jetbrains.lincheck.datastructures.IntGen
import org.jetbrains.lincheck.datastructures.Operation
import org.jetbrains.lincheck.datastructures.Param

/** Permits come and go while callers wait for them. */
@Param(name = "n", gen = IntGen::class, conf = "1:3")
class PoolLincheckTest : LincheckCase {
    private object Owner : Monitored {
        override val name: String
            get() = "pool"

        override fun usage() = Usage(0, 0)
    }

    override val model: Class<*>
        get() = PoolSequential::class.java

    override val generated
        get() = 40

    private val pool = PoolCore(3, "Pool", Owner) {}

    @Operation(cancellableOnSuspension = true, promptCancellation = true)
    suspend fun acquire(@Param(name = "n") n: Int) {
        underLincheck { if (!pool.tryTakePermits(n, by = null)) awaitGrant(pool, n) }
    }

    @Operation fun tryAcquire(@Param(name = "n") n: Int) = pool.tryTakePermits(n, by = null)

    @Operation fun bring(@Param(name = "n") n: Int) = pool.bring(n)

    @Operation fun withdraw() = pool.withdraw()

    @Operation fun resize(@Param(name = "n") n: Int) = pool.resizeHeld(n)

    @Operation fun demand() = pool.demand

    override val scenarios: List<Scenario>
        get() =
            listOf(
                // A permit that comes for the head meets its withdrawal, and a request behind it.
                threads({ actor(::bring, 2) }, { actor(::withdraw) }, { actor(::acquire, 2) }).after {
                    actor(::demand)
                    actor(::bring, 3)
                },
                threads({ actor(::bring, 3) }, { actor(::resize, 1) }, { actor(::acquire, 2) }).after {
                    actor(::withdraw)
                },
            )
}
