package baton.lincheck

import baton.Priority
import baton.lincheck.world.Effort
import baton.lincheck.world.HonestSemaphoreSequential
import baton.lincheck.world.Rare
import baton.lincheck.world.THREADS
import baton.lincheck.world.VARIANT
import baton.lincheck.world.underLincheck
import baton.sync.WaitOrder
import baton.sync.readwrite.contract.cancelled
import org.jetbrains.lincheck.datastructures.DSLScenarioBuilder
import org.jetbrains.lincheck.datastructures.IntGen
import org.jetbrains.lincheck.datastructures.Operation
import org.jetbrains.lincheck.datastructures.Param
import org.jetbrains.lincheck.datastructures.ThreadIdGen
import org.junit.jupiter.api.Tag

/** Cancellation included. A thread releases only the permits it holds, see [HonestMutexLincheckBase]. */
@Param(name = "thread", gen = ThreadIdGen::class)
@Param(name = "n", gen = IntGen::class, conf = "1:3")
abstract class HonestSemaphoreLincheckBase(
    permits: Int,
    sequential: Class<*>,
    order: WaitOrder = WaitOrder.FIFO,
) : SemaphoreLincheckBase(permits, sequential, order) {
    protected val held = IntArray(THREADS)

    @Operation(cancellableOnSuspension = true, promptCancellation = true)
    suspend fun acquire(@Param(name = "thread") thread: Int, @Param(name = "n") n: Int) {
        underLincheck { semaphore.acquire(n) }
        held[thread] += n
    }

    @Operation
    fun tryAcquire(@Param(name = "thread") thread: Int, @Param(name = "n") n: Int) =
        semaphore.tryAcquire(n).also { if (it) held[thread] += n }

    @Operation
    fun release(@Param(name = "thread") thread: Int, @Param(name = "n") n: Int) {
        val honest = minOf(n, held[thread])
        held[thread] -= honest
        if (honest > 0) semaphore.release(honest)
    }
}

internal class HonestThreeSequential : HonestSemaphoreSequential(3)

internal class HonestOneSequential : HonestSemaphoreSequential(1)

/** All weights but 1 are refused here. */
open class SemaphoreCancelLincheckTest : HonestSemaphoreLincheckBase(1, HonestOneSequential::class.java) {
    override val generated get() = 20

    override val scenarios: List<DSLScenarioBuilder.() -> Unit>
        get() = listOf(
            { // A permit that was granted to a cancelled thread is free again.
                initial { actor(::tryAcquire, 1, 1) }
                parallel {
                    thread {
                        actor(::release, 1, 1)
                        actor(::tryAcquire, 1, 1)
                    }
                    thread {
                        cancelled(::acquire, 2, 1)
                        actor(::tryAcquire, 2, 1)
                    }
                }
            },
        )
}

@Tag(VARIANT)
open class WeightedCancelLincheckTest : HonestSemaphoreLincheckBase(3, HonestThreeSequential::class.java)

/**
 * Two levels. A scenario has too few steps for a waiter to reach the bound on how often it is passed over; see
 * `PriorityWaitQueueTest` for that.
 */
@Tag(VARIANT)
open class PriorityLincheckTest :
    HonestSemaphoreLincheckBase(3, HonestThreeSequential::class.java, WaitOrder.PRIORITY) {
    override val spins get() = Effort.SPINS_OVER_LEVELS

    @Operation(cancellableOnSuspension = true, promptCancellation = true)
    suspend fun acquireUrgently(@Param(name = "thread") thread: Int, @Param(name = "n") n: Int) {
        underLincheck(extra = Priority.CRITICAL) { semaphore.acquire(n) }
        held[thread] += n
    }

    override val scenarios: List<DSLScenarioBuilder.() -> Unit>
        get() = listOf(
            { // The urgent request overtakes, and is granted where the other would not fit.
                initial { actor(::tryAcquire, 1, 2) }
                parallel {
                    thread { actor(::release, 1, 1) }
                    thread { actor(::acquire, 2, 3) }
                    thread {
                        actor(::acquireUrgently, 3, 1)
                        actor(::release, 3, 1)
                    }
                }
            },
        )
}

class PriorityLincheckDeepTest : PriorityLincheckTest() {
    override val effort get() = Effort.DEEP
}

/** The ends of it: closing, other sizes, idleness. */
@Tag(VARIANT)
open class SemaphoreEndsLincheckTest : HonestSemaphoreLincheckBase(3, HonestThreeSequential::class.java) {
    @Operation
    fun resize(@Param(name = "n") permits: Int) = semaphore.resize(permits)

    @Rare
    @Operation(runOnce = true)
    fun close() = semaphore.close()

    @Operation(cancellableOnSuspension = true, promptCancellation = true)
    suspend fun awaitIdle() = underLincheck { semaphore.awaitIdle() }

    override val scenarios: List<DSLScenarioBuilder.() -> Unit>
        get() = listOf(
            { // An `awaitIdle` that begins later is not completed by an earlier moment without holders.
                initial { actor(::tryAcquire, 1, 1) }
                parallel {
                    thread { actor(::release, 1, 1) }
                    thread {
                        actor(::tryAcquire, 2, 1)
                        actor(::awaitIdle)
                    }
                    thread { actor(::awaitIdle) }
                }
            },
            { // Three of two are refused, not merely not free.
                parallel {
                    thread { actor(::tryAcquire, 1, 3) }
                    thread { actor(::resize, 2) }
                }
            },
            { // The last but one of three is not the last of two.
                initial { actor(::tryAcquire, 1, 2) }
                parallel {
                    thread { actor(::release, 1, 1) }
                    thread { actor(::resize, 2) }
                    thread { actor(::awaitIdle) }
                }
            },
        )
}

class SemaphoreCancelLincheckDeepTest : SemaphoreCancelLincheckTest() {
    override val effort get() = Effort.DEEP
}

class WeightedCancelLincheckDeepTest : WeightedCancelLincheckTest() {
    override val effort get() = Effort.DEEP
}

class SemaphoreEndsLincheckDeepTest : SemaphoreEndsLincheckTest() {
    override val effort get() = Effort.DEEP
}
