package baton.sync.barrier

import baton.sync.Barrier
import baton.sync.BarrierCancellation
import baton.sync.semaphore.contract.SemaphoreFace
import kotlin.time.Duration

/** A barrier as a contract sees it, over any of the APIs. The rules of [SemaphoreFace] hold here, too. */
interface BarrierFace {
    val parties: Int

    val waiting: Int

    val isBroken: Boolean

    suspend fun arrive(): Int

    /** In the virtual time of the calling coroutine; only the contract [BarrierTimeouts] calls it. */
    suspend fun arrive(timeout: Duration): Int

    fun abort(cause: Throwable? = null)

    fun reset()

    /** Returns the barrier's own string, or a text that contains it. */
    override fun toString(): String
}

/** Makes the barrier of a test. */
typealias BarrierFactory =
    (parties: Int, onCancel: BarrierCancellation, name: String?, action: (suspend () -> Unit)?) -> BarrierFace

/** The suspend functions. */
class KotlinBarrierFace(private val barrier: Barrier) : BarrierFace {
    constructor(
        parties: Int,
        onCancel: BarrierCancellation,
        name: String?,
        action: (suspend () -> Unit)?,
    ) : this(Barrier(parties, onCancel, name, action))

    override val parties: Int
        get() = barrier.parties

    override val waiting: Int
        get() = barrier.waiting

    override val isBroken: Boolean
        get() = barrier.isBroken

    override suspend fun arrive() = barrier.arrive()

    override suspend fun arrive(timeout: Duration) = barrier.arrive(timeout)

    override fun abort(cause: Throwable?) = barrier.abort(cause)

    override fun reset() = barrier.reset()

    override fun toString() = barrier.toString()
}
