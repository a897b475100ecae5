package baton.lincheck

import baton.Priority
import baton.channels.Channel
import baton.channels.ChannelOrder
import baton.channels.ChannelResult
import baton.channels.OnFull
import baton.channels.Reservation
import baton.lincheck.world.ChannelSequential
import baton.lincheck.world.ChannelSequential.Companion.CANCELLED
import baton.lincheck.world.ChannelSequential.Companion.SENT
import baton.lincheck.world.Effort
import baton.lincheck.world.LincheckCase
import baton.lincheck.world.Rare
import baton.lincheck.world.Scenario
import baton.lincheck.world.THREADS
import baton.lincheck.world.after
import baton.lincheck.world.threads
import baton.lincheck.world.underLincheck
import java.util.concurrent.atomic.AtomicReferenceArray
import kotlinx.coroutines.CancellationException
import kotlinx.coroutines.Job
import org.jetbrains.lincheck.datastructures.IntGen
import org.jetbrains.lincheck.datastructures.Operation
import org.jetbrains.lincheck.datastructures.Param
import org.jetbrains.lincheck.datastructures.ThreadIdGen

@Param(name = "thread", gen = ThreadIdGen::class)
@Param(name = "other", gen = IntGen::class, conf = "1:3")
@Param(name = "element", gen = IntGen::class, conf = "1:9")
abstract class ChannelLincheckBase(protected val channel: Channel<Int>, override val model: Class<*>) : LincheckCase {
    override val generated
        get() = 14

    @Rare @Operation fun size() = channel.size

    @Rare @Operation fun waiting() = channel.waiting

    @Operation fun trySend(@Param(name = "element") element: Int) = channel.trySend(element).orThrow() != null

    @Operation fun tryReceive() = channel.tryReceive().getOrNull()

    @Rare @Operation fun close() = channel.close()

    private fun <T> ChannelResult<T>.orThrow() = if (isClosed) getOrThrow() else getOrNull()
}

/**
 * Cancellation is an operation of its own: Lincheck's cannot express that a sender whose element was taken returns
 * normally although it was cancelled.
 */
abstract class CancellableChannelLincheckBase(channel: Channel<Int>, model: Class<*>) :
    ChannelLincheckBase(channel, model) {
    private enum class Stage {
        BEGINS,
        MAY_BE_CANCELLED,
    }

    private val stages = AtomicReferenceArray<Stage?>(THREADS)
    private val jobs = AtomicReferenceArray<Job?>(THREADS)

    protected suspend fun cancellably(thread: Int, priority: Priority = Priority.NORMAL, call: suspend () -> Any): Any {
        val job = Job()
        jobs.set(thread, job)
        stages.set(thread, Stage.BEGINS)
        try {
            return underLincheck(
                extra = priority,
                job = job,
                onSuspension = { stages.compareAndSet(thread, Stage.BEGINS, Stage.MAY_BE_CANCELLED) },
                block = call,
            )
        } catch (_: CancellationException) {
            return CANCELLED
        } finally {
            stages.set(thread, null)
        }
    }

    /**
     * Cancels the call of [thread], if it waits.
     *
     * The call must be in the queue by then. A call that is cancelled before it has enqueued throws even if it could
     * have been served at once, and no order of the operations explains that.
     */
    @Operation
    fun cancel(@Param(name = "other") thread: Int) {
        while (stages.get(thread) == Stage.BEGINS) Thread.onSpinWait()
        if (stages.get(thread) != null) jobs.get(thread)!!.cancel()
    }

    @Operation(cancellableOnSuspension = false)
    suspend fun send(@Param(name = "thread") thread: Int, @Param(name = "element") element: Int) =
        cancellably(thread) {
            channel.send(element)
            SENT
        }

    @Operation(cancellableOnSuspension = false)
    suspend fun receive(@Param(name = "thread") thread: Int) = cancellably(thread) { channel.receive() }

    private val senderIsCancelled: Scenario =
        threads(
                { actor(::send, 1, 2) },
                {
                    actor(::tryReceive)
                    actor(::tryReceive)
                },
                {
                    actor(::cancel, 1)
                    actor(::size)
                },
            )
            .after { actor(::trySend, 1) }

    protected val receiverIsCancelled: Scenario =
        threads(
            { actor(::receive, 1) },
            {
                actor(::trySend, 1)
                actor(::trySend, 2)
            },
            {
                actor(::cancel, 1)
                actor(::receive, 3)
            },
        )

    protected val endMeetsBoth: Scenario =
        threads(
            { actor(::receive, 1) },
            {
                actor(::send, 2, 1)
                actor(::cancel, 1)
            },
            { actor(::close) },
        )

    override val scenarios: List<Scenario>
        get() = listOf(senderIsCancelled, receiverIsCancelled, endMeetsBoth)
}

internal class RendezvousSequential : ChannelSequential(0)

internal class OneSequential : ChannelSequential(1)

internal class TwoSequential : ChannelSequential(2)

internal class ConflatedSequential : ChannelSequential(1, onFull = OnFull.DROP_OLDEST)

internal class PrioritySequential : ChannelSequential(1, ChannelOrder.PRIORITY)

class RendezvousLincheckTest : CancellableChannelLincheckBase(Channel(), RendezvousSequential::class.java)

class BufferedChannelLincheckTest : CancellableChannelLincheckBase(Channel(2), TwoSequential::class.java) {
    override val scenarios: List<Scenario>
        get() =
            super.scenarios +
                listOf(
                    // A sender that waits for room gets it as soon as an element is received.
                    threads(
                            { actor(::send, 1, 3) },
                            {
                                actor(::tryReceive)
                                actor(::trySend, 4)
                            },
                        )
                        .after {
                            actor(::trySend, 1)
                            actor(::trySend, 2)
                        }
                )
}

class ConflatedLincheckTest :
    CancellableChannelLincheckBase(Channel(1, onFull = OnFull.DROP_OLDEST), ConflatedSequential::class.java) {
    override val scenarios
        get() = listOf(receiverIsCancelled)
}

/** Two levels, and the hard end. In so few steps no level reaches its bound; see `PriorityWaitQueueTest` for that. */
class PriorityChannelLincheckTest :
    CancellableChannelLincheckBase(Channel(1, ChannelOrder.PRIORITY), PrioritySequential::class.java) {
    override val spins
        get() = Effort.SPINS_OVER_LEVELS

    @Operation(cancellableOnSuspension = false)
    suspend fun sendUrgently(@Param(name = "thread") thread: Int, @Param(name = "element") element: Int) =
        cancellably(thread, Priority.CRITICAL) {
            channel.send(element)
            SENT
        }

    @Rare @Operation fun cancelChannel() = channel.cancel()

    override val scenarios
        get() = listOf(endMeetsBoth)
}

/** Places are used and given back by the thread that reserved them. */
class ReservationLincheckTest : CancellableChannelLincheckBase(Channel(1), OneSequential::class.java) {
    private val places = List(THREADS) { ArrayList<Reservation<Int>>() }

    @Operation(cancellableOnSuspension = false)
    suspend fun reserve(@Param(name = "thread") thread: Int) =
        cancellably(thread) {
            places[thread] += channel.reserve()
            SENT
        }

    @Operation
    fun sendReserved(@Param(name = "thread") thread: Int, @Param(name = "element") element: Int) {
        places[thread].removeLastOrNull()?.send(element)
    }

    @Operation
    fun leavePlace(@Param(name = "thread") thread: Int) {
        places[thread].removeLastOrNull()?.close()
    }

    @Rare @Operation fun cancelChannel() = channel.cancel()

    override val scenarios: List<Scenario>
        get() =
            listOf(
                // The cancellation of a caller that waits for a place meets the place that comes, and the end.
                threads(
                    {
                        actor(::reserve, 1)
                        actor(::sendReserved, 1, 5)
                    },
                    {
                        actor(::reserve, 2)
                        actor(::leavePlace, 2)
                    },
                    {
                        actor(::cancel, 2)
                        actor(::close)
                    },
                )
            )
}

/** Some receive several elements at once. */
abstract class BatchLincheckBase(capacity: Int, model: Class<*>) :
    CancellableChannelLincheckBase(Channel(capacity), model) {
    override val spins
        get() = 5

    @Operation(cancellableOnSuspension = false)
    suspend fun receiveUpTo(
        @Param(name = "thread") thread: Int,
        @Param(gen = IntGen::class, conf = "1:3") limit: Int,
    ): Any = cancellably(thread) { channel.receiveUpTo(limit) }

    @Rare @Operation fun isClosedForReceive() = channel.isClosedForReceive

    private val batchIsCancelled: Scenario =
        threads(
            { actor(::receiveUpTo, 1, 2) },
            {
                actor(::trySend, 1)
                actor(::trySend, 2)
                actor(::trySend, 3)
            },
            {
                actor(::cancel, 1)
                actor(::receiveUpTo, 3, 2)
            },
        )

    private val batchMeetsTheEnd: Scenario =
        threads(
                { actor(::receiveUpTo, 1, 3) },
                { actor(::receiveUpTo, 2, 2) },
                {
                    actor(::trySend, 3)
                    actor(::close)
                    actor(::isClosedForReceive)
                },
            )
            .after { actor(::trySend, 1) }

    override val scenarios: List<Scenario>
        get() = super.scenarios + batchIsCancelled + batchMeetsTheEnd
}

class RendezvousBatchLincheckTest : BatchLincheckBase(0, RendezvousSequential::class.java)

class BufferedBatchLincheckTest : BatchLincheckBase(2, TwoSequential::class.java)
