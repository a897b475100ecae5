package baton.lincheck

import baton.lincheck.world.BreakingForThree
import baton.lincheck.world.LincheckCase
import baton.lincheck.world.LincheckClock
import baton.lincheck.world.Rare
import baton.lincheck.world.RetractingForTwo
import baton.lincheck.world.Scenario
import baton.lincheck.world.THREADS
import baton.lincheck.world.threads
import baton.lincheck.world.underLincheck
import baton.sync.Barrier
import baton.sync.BarrierBrokenException
import baton.sync.BarrierCancellation
import java.util.concurrent.atomic.AtomicReferenceArray
import kotlin.time.Duration.Companion.hours
import kotlinx.coroutines.CancellationException
import kotlinx.coroutines.Job
import org.jetbrains.lincheck.datastructures.IntGen
import org.jetbrains.lincheck.datastructures.Operation
import org.jetbrains.lincheck.datastructures.Param
import org.jetbrains.lincheck.datastructures.ThreadIdGen

@Param(name = "thread", gen = ThreadIdGen::class)
@Param(name = "other", gen = IntGen::class, conf = "1:3")
abstract class BarrierLincheckBase(protected val barrier: Barrier, override val model: Class<*>) : LincheckCase {

    override val generated
        get() = 24

    @Operation(cancellableOnSuspension = false) suspend fun arrive() = underLincheck { barrier.arrive() }

    @Rare @Operation fun isBroken() = barrier.isBroken
}

/**
 * A timer may meet the trip, the cancellation, an abort, and a reset.
 *
 * Cancellation is an operation of its own: Lincheck's cannot express that a party was cancelled after it had been
 * counted, or had failed. Only the other parties can see whether it was, so a cancellable arrival returns nothing.
 */
abstract class BarrierTimedLincheckBase(barrier: Barrier, model: Class<*>) : BarrierLincheckBase(barrier, model) {
    private val jobs = AtomicReferenceArray<Job?>(THREADS)
    private val clock = LincheckClock()

    /** Whether [cancel] leaves out a party that is about to arrive. */
    protected open val cancelsCountedPartiesOnly
        get() = false

    @Operation(cancellableOnSuspension = false)
    suspend fun arriveCancellably(@Param(name = "thread") thread: Int) {
        val job = Job()
        if (!cancelsCountedPartiesOnly) jobs.set(thread, job)
        underLincheck(job = job, onSuspension = { if (cancelsCountedPartiesOnly) jobs.set(thread, job) }) {
            try {
                barrier.arrive()
            } catch (_: CancellationException) {
                // Perhaps it was counted, or failed before it was cancelled.
            } catch (_: BarrierBrokenException) {
                // As well.
            }
            jobs.set(thread, null)
        }
    }

    @Operation
    fun cancel(@Param(name = "other") thread: Int) {
        jobs.getAndSet(thread, null)?.cancel()
    }

    @Operation(cancellableOnSuspension = false)
    suspend fun arriveTimed(@Param(name = "thread") thread: Int) =
        underLincheck(clock.timerOf(thread)) { barrier.arrive(1.hours) }

    @Operation fun timePasses(@Param(name = "other") thread: Int) = clock.timePasses(thread)

    @Rare @Operation fun waiting() = barrier.waiting

    @Operation fun reset() = barrier.reset()

    override val scenarios: List<Scenario>
        get() =
            listOf(
                // The timer meets the trip.
                threads(
                    {
                        actor(::arrive)
                        actor(::waiting)
                    },
                    { actor(::arriveTimed, 2) },
                    {
                        actor(::timePasses, 2)
                        actor(::waiting)
                    },
                ),
                // The cancellation meets the trip, and the parties of the next generation.
                threads(
                    {
                        actor(::arrive)
                        actor(::arrive)
                    },
                    { actor(::arriveCancellably, 2) },
                    {
                        actor(::cancel, 2)
                        actor(::arrive)
                    },
                ),
            )
}

class BarrierLincheckTest : BarrierTimedLincheckBase(Barrier(2), RetractingForTwo::class.java)

class BreakingBarrierLincheckTest :
    BarrierTimedLincheckBase(Barrier(3, BarrierCancellation.BREAK), BreakingForThree::class.java) {
    /** A party that is cancelled before it arrives breaks the barrier when it arrives, after [cancel] has returned. */
    override val cancelsCountedPartiesOnly
        get() = true

    @Operation fun abort() = barrier.abort()
}

/**
 * With an action, which does nothing here. The test shows the outcome for parties that arrive while the action runs. No
 * party is cancelled: cancelling the last party while the action runs breaks the barrier, and in the model no time
 * passes in between.
 */
class ActingBarrierLincheckTest : BarrierLincheckBase(Barrier(2) {}, RetractingForTwo::class.java)
