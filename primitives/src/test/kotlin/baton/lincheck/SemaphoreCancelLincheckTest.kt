package baton.lincheck

import baton.Priority
import baton.lincheck.world.Effort
import baton.lincheck.world.HonestSemaphoreSequential
import baton.lincheck.world.LincheckClock
import baton.lincheck.world.Rare
import baton.lincheck.world.Scenario
import baton.lincheck.world.THREADS
import baton.lincheck.world.after
import baton.lincheck.world.cancelled
import baton.lincheck.world.threads
import baton.lincheck.world.underLincheck
import baton.sync.WaitOrder
import kotlin.coroutines.CoroutineContext
import kotlin.coroutines.EmptyCoroutineContext
import kotlin.time.Duration.Companion.hours
import org.jetbrains.lincheck.datastructures.IntGen
import org.jetbrains.lincheck.datastructures.Operation
import org.jetbrains.lincheck.datastructures.Param
import org.jetbrains.lincheck.datastructures.ThreadIdGen

/** Cancellation included. A thread releases only the permits it holds, see [HonestMutexLincheckBase]. */
@Param(name = "thread", gen = ThreadIdGen::class)
@Param(name = "n", gen = IntGen::class, conf = "1:3")
abstract class HonestSemaphoreLincheckBase(permits: Int, model: Class<*>, order: WaitOrder = WaitOrder.FIFO) :
    SemaphoreLincheckBase(permits, model, order) {
    protected val held = IntArray(THREADS)

    /** Further elements of the context of the caller that acquires. */
    protected open fun extra(thread: Int): CoroutineContext = EmptyCoroutineContext

    @Operation(cancellableOnSuspension = true, promptCancellation = true)
    suspend fun acquire(@Param(name = "thread") thread: Int, @Param(name = "n") n: Int) {
        underLincheck(extra = extra(thread)) { semaphore.acquire(n) }
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
class SemaphoreCancelLincheckTest : HonestSemaphoreLincheckBase(1, HonestOneSequential::class.java) {
    override val generated
        get() = 20

    override val scenarios: List<Scenario>
        get() =
            listOf(
                // A permit that was granted to a cancelled thread is free again.
                threads(
                        {
                            actor(::release, 1, 1)
                            actor(::tryAcquire, 1, 1)
                        },
                        {
                            cancelled(::acquire, 2, 1)
                            actor(::tryAcquire, 2, 1)
                        },
                    )
                    .after { actor(::tryAcquire, 1, 1) }
            )
}

class WeightedCancelLincheckTest : HonestSemaphoreLincheckBase(3, HonestThreeSequential::class.java)

/**
 * Two levels. A scenario has too few steps for a waiter to reach the bound on how often it is passed over; see
 * `PriorityWaitQueueTest` for that.
 */
class PriorityLincheckTest : HonestSemaphoreLincheckBase(3, HonestThreeSequential::class.java, WaitOrder.PRIORITY) {
    override val spins
        get() = Effort.SPINS_OVER_LEVELS

    @Operation(cancellableOnSuspension = true, promptCancellation = true)
    suspend fun acquireUrgently(@Param(name = "thread") thread: Int, @Param(name = "n") n: Int) {
        underLincheck(extra = Priority.CRITICAL) { semaphore.acquire(n) }
        held[thread] += n
    }

    override val scenarios: List<Scenario>
        get() =
            listOf(
                // The urgent request overtakes, and is granted where the other would not fit.
                threads(
                        { actor(::release, 1, 1) },
                        { actor(::acquire, 2, 3) },
                        {
                            actor(::acquireUrgently, 3, 1)
                            actor(::release, 3, 1)
                        },
                    )
                    .after { actor(::tryAcquire, 1, 2) }
            )
}

/** The ends of it: closing, other sizes, idleness. */
class SemaphoreEndsLincheckTest : HonestSemaphoreLincheckBase(3, HonestThreeSequential::class.java) {
    @Operation fun resize(@Param(gen = IntGen::class, conf = "0:3") permits: Int) = semaphore.resize(permits)

    @Rare @Operation(runOnce = true) fun close() = semaphore.close()

    @Operation(cancellableOnSuspension = true, promptCancellation = true)
    suspend fun awaitIdle() = underLincheck { semaphore.awaitIdle() }

    override val scenarios: List<Scenario>
        get() =
            listOf(
                // An `awaitIdle` that begins later is not completed by an earlier moment without holders.
                threads(
                        { actor(::release, 1, 1) },
                        {
                            actor(::tryAcquire, 2, 1)
                            actor(::awaitIdle)
                        },
                        { actor(::awaitIdle) },
                    )
                    .after { actor(::tryAcquire, 1, 1) },
                // Three of two are refused, not merely not free.
                threads({ actor(::tryAcquire, 1, 3) }, { actor(::resize, 2) }),
                // A release that decides under the lock meets one that has only changed the counter yet: there are two
                // permits for all afterwards.
                threads(
                        {
                            actor(::release, 1, 2)
                            actor(::tryAcquire, 1, 2)
                            actor(::acquire, 1, 1)
                        },
                        { actor(::release, 2, 1) },
                    )
                    .after {
                        actor(::tryAcquire, 1, 2)
                        actor(::tryAcquire, 2, 1)
                        actor(::resize, 2)
                    },
                // With no permits, a release is of a permit that is held, whatever waits; and no waiter holds
                // one.
                threads(
                        {
                            actor(::release, 1, 1)
                            actor(::resize, 3)
                        },
                        { actor(::acquire, 2, 2) },
                        { actor(::awaitIdle) },
                    )
                    .after {
                        actor(::tryAcquire, 1, 1)
                        actor(::resize, 0)
                    },
                // The gate is closed, and opened, while a holder releases and others come.
                threads(
                        {
                            actor(::release, 1, 2)
                            actor(::tryAcquire, 1, 1)
                        },
                        {
                            actor(::resize, 0)
                            actor(::resize, 2)
                        },
                        { actor(::acquire, 3, 2) },
                    )
                    .after { actor(::tryAcquire, 1, 2) },
                // The last but one of three is not the last of two.
                threads({ actor(::release, 1, 1) }, { actor(::resize, 2) }, { actor(::awaitIdle) }).after {
                    actor(::tryAcquire, 1, 2)
                },
            )
}

/** Timeouts: a timer may meet the grant, the cancellation, the end, and each other. */
class SemaphoreTimeoutLincheckTest : HonestSemaphoreLincheckBase(3, HonestThreeSequential::class.java) {
    private val clock = LincheckClock()

    @Operation(cancellableOnSuspension = true, promptCancellation = true)
    suspend fun tryAcquireTimed(@Param(name = "thread") thread: Int, @Param(name = "n") n: Int): Boolean =
        underLincheck(clock.timerOf(thread)) { semaphore.tryAcquire(n, 1.hours) }.also { if (it) held[thread] += n }

    @Operation fun timePasses(@Param(gen = IntGen::class, conf = "1:3") thread: Int) = clock.timePasses(thread)

    @Rare @Operation(runOnce = true) fun close() = semaphore.close()

    override val scenarios: List<Scenario>
        get() =
            listOf(
                // The timer meets the grant.
                threads(
                        { actor(::release, 1, 3) },
                        { actor(::tryAcquireTimed, 2, 2) },
                        {
                            actor(::timePasses, 2)
                            actor(::tryAcquire, 3, 3)
                        },
                    )
                    .after { actor(::tryAcquire, 1, 3) },
                // The timer of an expired request grants the waiter behind it.
                threads(
                        {
                            actor(::timePasses, 2)
                            actor(::tryAcquire, 1, 1)
                        },
                        { actor(::tryAcquireTimed, 2, 3) },
                        { actor(::acquire, 3, 1) },
                    )
                    .after { actor(::tryAcquire, 1, 2) },
                // Two timers and one permit.
                threads(
                        {
                            actor(::timePasses, 3)
                            actor(::release, 1, 1)
                            actor(::timePasses, 2)
                            actor(::tryAcquire, 1, 1)
                        },
                        { actor(::tryAcquireTimed, 2, 1) },
                        { actor(::tryAcquireTimed, 3, 1) },
                    )
                    .after { actor(::tryAcquire, 1, 3) },
                // The timer meets the end.
                threads(
                        {
                            actor(::close)
                            actor(::release, 1, 3)
                        },
                        { actor(::tryAcquireTimed, 2, 2) },
                        { actor(::timePasses, 2) },
                    )
                    .after { actor(::tryAcquire, 1, 3) },
            )
}
