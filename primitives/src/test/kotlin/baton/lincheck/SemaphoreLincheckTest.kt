package baton.lincheck

import baton.lincheck.world.LincheckCase
import baton.lincheck.world.Scenario
import baton.lincheck.world.SemaphoreSequential
import baton.lincheck.world.after
import baton.lincheck.world.threads
import baton.lincheck.world.underLincheck
import baton.sync.Semaphore
import baton.sync.WaitOrder
import org.jetbrains.lincheck.datastructures.IntGen
import org.jetbrains.lincheck.datastructures.Operation
import org.jetbrains.lincheck.datastructures.Param

abstract class SemaphoreLincheckBase(permits: Int, override val model: Class<*>, order: WaitOrder = WaitOrder.FIFO) :
    LincheckCase {
    protected val semaphore = Semaphore(permits, order = order)

    override val generated
        get() = 10
}

/** Misuse included: any thread releases. See [HonestMutexLincheckBase] for why no caller is cancelled here. */
abstract class UnitSemaphoreLincheckBase(permits: Int, model: Class<*>) : SemaphoreLincheckBase(permits, model) {
    @Operation(cancellableOnSuspension = false) suspend fun acquire() = underLincheck { semaphore.acquire() }

    @Operation fun tryAcquire() = semaphore.tryAcquire()

    @Operation fun release() = semaphore.release()

    @Operation fun availablePermits() = semaphore.availablePermits

    @Operation fun waiting() = semaphore.waiting
}

internal class OnePermitSequential : SemaphoreSequential(1)

internal class TwoPermitsSequential : SemaphoreSequential(2)

internal class ThreePermitsSequential : SemaphoreSequential(3)

class SemaphoreLincheckTest : UnitSemaphoreLincheckBase(1, OnePermitSequential::class.java) {
    override val generated
        get() = 240

    override val scenarios: List<Scenario>
        get() =
            listOf(
                // A permit that is released is free until a thread holds it.
                threads(
                        {
                            actor(::release)
                            actor(::tryAcquire)
                            actor(::acquire)
                        },
                        { actor(::acquire) },
                    )
                    .after { actor(::tryAcquire) }
            )
}

class TwoPermitsLincheckTest : UnitSemaphoreLincheckBase(2, TwoPermitsSequential::class.java) {
    override val generated
        get() = 20
}

/** A release of more permits than are held throws, whatever a resize does meanwhile. */
class ExcessReleaseLincheckTest : UnitSemaphoreLincheckBase(2, TwoPermitsSequential::class.java) {
    override val generated
        get() = 20

    override val scenarios: List<Scenario>
        get() =
            listOf(
                // The sum of permits is the same before and after: only the number of permits tells that one is too
                // many.
                threads(
                        { actor(::release) },
                        {
                            actor(::resize, 3)
                            actor(::resize, 2)
                        },
                        {
                            actor(::tryAcquire)
                            actor(::release)
                        },
                    )
                    .after { actor(::availablePermits) }
            )

    @Operation fun resize(@Param(gen = IntGen::class, conf = "0:3") permits: Int) = semaphore.resize(permits)
}

/** Requests of different weights. */
@Param(name = "n", gen = IntGen::class, conf = "1:3")
class WeightedSemaphoreLincheckTest : SemaphoreLincheckBase(3, ThreePermitsSequential::class.java) {
    override val generated
        get() = 20

    override val scenarios: List<Scenario>
        get() =
            listOf(
                // Two releases, one of which may be of more permits than are held, and a request for all.
                threads(
                    { actor(::release, 1) },
                    {
                        actor(::tryAcquire, 3)
                        actor(::release, 2)
                    },
                    { actor(::release, 3) },
                )
            )

    @Operation(cancellableOnSuspension = false)
    suspend fun acquire(@Param(name = "n") n: Int) = underLincheck { semaphore.acquire(n) }

    @Operation fun tryAcquire(@Param(name = "n") n: Int) = semaphore.tryAcquire(n)

    @Operation fun drain() = semaphore.drain()

    @Operation fun release(@Param(name = "n") n: Int) = semaphore.release(n)
}
