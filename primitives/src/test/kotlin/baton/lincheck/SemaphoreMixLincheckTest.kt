package baton.lincheck

import baton.lincheck.world.BoostedCase
import baton.lincheck.world.Effort
import baton.lincheck.world.LincheckBoosts
import baton.lincheck.world.LincheckClock
import baton.lincheck.world.Rare
import baton.lincheck.world.Scenario
import baton.lincheck.world.after
import baton.lincheck.world.cancelled
import baton.lincheck.world.threads
import baton.lincheck.world.underLincheck
import kotlin.coroutines.CoroutineContext
import kotlin.time.Duration
import kotlin.time.Duration.Companion.hours
import org.jetbrains.lincheck.datastructures.IntGen
import org.jetbrains.lincheck.datastructures.Operation
import org.jetbrains.lincheck.datastructures.Param
import org.jetbrains.lincheck.datastructures.Validate

/**
 * All that a semaphore can do in one scenario, but for `select`: see [SemaphoreSelectLincheckTest]. The chosen
 * scenarios are those in which three of its abilities meet in one moment.
 */
abstract class SemaphoreMixLincheckBase(permits: Int, model: Class<*>) : HonestSemaphoreLincheckBase(permits, model) {
    private val clock = LincheckClock()

    @Operation(cancellableOnSuspension = true, promptCancellation = true)
    suspend fun tryAcquireTimed(@Param(name = "thread") thread: Int, @Param(name = "n") n: Int): Boolean =
        underLincheck(clock.timerOf(thread), extra(thread)) { semaphore.tryAcquire(n, 1.hours) }
            .also { if (it) held[thread] += n }

    @Operation(cancellableOnSuspension = false)
    suspend fun tryAcquireForNoTime(@Param(name = "thread") thread: Int, @Param(name = "n") n: Int): Boolean =
        semaphore.tryAcquire(n, Duration.ZERO).also { if (it) held[thread] += n }

    @Operation fun timePasses(@Param(gen = IntGen::class, conf = "1:3") thread: Int) = clock.timePasses(thread)

    @Operation fun resize(@Param(gen = IntGen::class, conf = "0:3") permits: Int) = semaphore.resize(permits)

    @Operation(cancellableOnSuspension = true, promptCancellation = true)
    suspend fun awaitIdle() = underLincheck { semaphore.awaitIdle() }

    @Rare @Operation(runOnce = true) fun close() = semaphore.close()

    @Rare @Operation fun permits() = semaphore.permits

    @Rare @Operation fun availablePermits() = semaphore.availablePermits

    @Rare @Operation fun waiting() = semaphore.waiting
}

class SemaphoreMixLincheckTest : SemaphoreMixLincheckBase(3, HonestThreeSequential::class.java) {
    override val generated
        get() = 100

    override val scenarios: List<Scenario>
        get() =
            listOf(
                // A timeout, a cancellation and a release of part of what the head asks for.
                threads(
                        {
                            actor(::release, 1, 1)
                            actor(::availablePermits)
                        },
                        { cancelled(::acquire, 2, 2) },
                        {
                            actor(::tryAcquireTimed, 3, 1)
                            actor(::timePasses, 3)
                        },
                    )
                    .after { actor(::tryAcquire, 1, 3) },
                // A release leaves more than the only waiter asks for.
                threads(
                        {
                            actor(::release, 1, 3)
                            actor(::tryAcquireForNoTime, 1, 1)
                        },
                        { actor(::acquire, 2, 2) },
                    )
                    .after { actor(::tryAcquire, 1, 3) },
                // The head is cancelled, and the one behind it fits.
                threads(
                        {
                            cancelled(::acquire, 1, 3)
                            actor(::waiting)
                        },
                        { actor(::acquire, 2, 1) },
                    )
                    .after { actor(::tryAcquire, 1, 2) },
                // The gate closes while a timer goes off, and a debt is paid.
                threads(
                        {
                            actor(::release, 1, 2)
                            actor(::resize, 0)
                        },
                        {
                            actor(::tryAcquireTimed, 2, 2)
                            actor(::release, 2, 1)
                        },
                        {
                            actor(::resize, 1)
                            actor(::timePasses, 2)
                        },
                    )
                    .after { actor(::tryAcquire, 1, 3) },
                // The last permit comes back while the waiter for it is cancelled, and a caller waits for that.
                threads(
                        { actor(::release, 1, 3) },
                        {
                            cancelled(::acquire, 2, 3)
                            actor(::tryAcquireForNoTime, 2, 1)
                        },
                        {
                            actor(::awaitIdle)
                            actor(::waiting)
                        },
                    )
                    .after { actor(::tryAcquire, 1, 3) },
                // The end meets a timer and the gate that opens.
                threads(
                        {
                            actor(::resize, 2)
                            actor(::close)
                        },
                        { actor(::tryAcquireTimed, 2, 2) },
                        {
                            actor(::timePasses, 2)
                            actor(::permits)
                        },
                    )
                    .after { actor(::resize, 0) },
            )
}

/**
 * One permit, whose holder is boosted, or as many as a resize makes of it. The semaphore behaves the same, and boosts
 * no holder needlessly.
 */
class BoostedSemaphoreLincheckTest : SemaphoreMixLincheckBase(1, HonestOneSequential::class.java), BoostedCase {
    override val generated
        get() = 60

    override val spins
        get() = Effort.SPINS_OVER_LEVELS

    private val boosts = LincheckBoosts()

    override fun extra(thread: Int): CoroutineContext = boosts.contextOf(thread)

    override val scenarios: List<Scenario>
        get() =
            listOf(
                // The permit becomes one of two while a more urgent caller waits for it.
                threads(
                    {
                        actor(::acquire, 1, 1)
                        actor(::resize, 2)
                        actor(::release, 1, 1)
                    },
                    {
                        actor(::acquire, 2, 1)
                        actor(::release, 2, 1)
                    },
                    { actor(::resize, 1) },
                )
            )

    /** One boost for the holder of the only permit. No boost if no caller waits, or if the holder is unknown. */
    @Validate
    fun boosts() {
        val wanted = semaphore.permits == 1 && semaphore.availablePermits == 0 && semaphore.waiting > 0
        check(boosts.given <= if (wanted) 1 else 0) { "${boosts.given} boosts, $semaphore" }
    }
}
