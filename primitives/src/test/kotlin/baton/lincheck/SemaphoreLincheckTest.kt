package baton.lincheck

import baton.lincheck.world.Effort
import baton.lincheck.world.Rare
import baton.lincheck.world.SemaphoreSequential
import baton.lincheck.world.underLincheck
import baton.sync.Semaphore
import baton.sync.WaitOrder
import org.jetbrains.lincheck.datastructures.DSLScenarioBuilder
import org.jetbrains.lincheck.datastructures.IntGen
import org.jetbrains.lincheck.datastructures.Operation
import org.jetbrains.lincheck.datastructures.Param
import org.junit.jupiter.api.Test

abstract class SemaphoreLincheckBase(
    permits: Int,
    private val sequential: Class<*>,
    order: WaitOrder = WaitOrder.FIFO,
) {
    protected val semaphore = Semaphore(permits, order = order)

    internal open val effort get() = Effort.SHORT

    /** How many scenarios the ordinary run generates. */
    internal open val generated get() = 10
    internal open val spins get() = Effort.SPINS

    /** Scenarios written by hand, because random generation may miss them. */
    internal open val scenarios: List<DSLScenarioBuilder.() -> Unit> get() = emptyList()

    @Test
    fun chosenInterleavings_areLinearizable() =
        effort.checkInterleavings(javaClass, sequential, scenarios, generated, spins)

    @Test
    fun threads_areLinearizable() = effort.stress(sequential, scenarios).check(javaClass)
}

/** Misuse included: any thread releases. See [HonestMutexLincheckBase] for why no caller is cancelled here. */
abstract class UnitSemaphoreLincheckBase(permits: Int, sequential: Class<*>) :
    SemaphoreLincheckBase(permits, sequential) {
    @Operation(cancellableOnSuspension = false)
    suspend fun acquire() = underLincheck { semaphore.acquire() }

    @Operation
    fun tryAcquire() = semaphore.tryAcquire()

    @Operation
    fun release() = semaphore.release()

    @Rare
    @Operation
    fun availablePermits() = semaphore.availablePermits

    @Rare
    @Operation
    fun waiting() = semaphore.waiting
}

internal class OnePermitSequential : SemaphoreSequential(1)

internal class TwoPermitsSequential : SemaphoreSequential(2)

internal class ThreePermitsSequential : SemaphoreSequential(3)

open class SemaphoreLincheckTest : UnitSemaphoreLincheckBase(1, OnePermitSequential::class.java) {
    override val generated get() = 240

    override val scenarios: List<DSLScenarioBuilder.() -> Unit>
        get() = listOf(
            { // A permit that is released is free until a thread holds it.
                initial { actor(::tryAcquire) }
                parallel {
                    thread {
                        actor(::release)
                        actor(::tryAcquire)
                        actor(::acquire)
                    }
                    thread { actor(::acquire) }
                }
            },
        )
}

open class TwoPermitsLincheckTest : UnitSemaphoreLincheckBase(2, TwoPermitsSequential::class.java) {
    override val generated get() = 20
}

class SemaphoreLincheckDeepTest : SemaphoreLincheckTest() {
    override val effort get() = Effort.DEEP
}

class TwoPermitsLincheckDeepTest : TwoPermitsLincheckTest() {
    override val effort get() = Effort.DEEP
}

/** Requests of different weights. */
@Param(name = "n", gen = IntGen::class, conf = "1:3")
open class WeightedSemaphoreLincheckTest : SemaphoreLincheckBase(3, ThreePermitsSequential::class.java) {
    override val generated get() = 20

    @Operation(cancellableOnSuspension = false)
    suspend fun acquire(@Param(name = "n") n: Int) = underLincheck { semaphore.acquire(n) }

    @Operation
    fun tryAcquire(@Param(name = "n") n: Int) = semaphore.tryAcquire(n)

    @Operation
    fun release(@Param(name = "n") n: Int) = semaphore.release(n)
}

class WeightedSemaphoreLincheckDeepTest : WeightedSemaphoreLincheckTest() {
    override val effort get() = Effort.DEEP
}
