package baton.sync.semaphore.contract

import baton.sync.SemaphoreClosedException
import baton.sync.WaitOrder
import baton.sync.assertState
import baton.waiting.contract.WaiterContract
import baton.waiting.contract.WaiterFixture
import baton.waiting.contract.WaitingKind
import baton.waiting.contract.WaitingPlace
import kotlin.time.Duration
import kotlinx.coroutines.test.runTest
import org.junit.jupiter.api.assertThrows

/** The common part of the topics of the semaphore's contract. */
interface SemaphoreFixture : WaiterFixture {
    val factory: SemaphoreFactory

    /** How many random sequences are run; fewer where every caller is a thread. */
    val sequences: Int
        get() = 300

    fun semaphore(
        permits: Int,
        acquired: Int = 0,
        order: WaitOrder = WaitOrder.FIFO,
        name: String? = null,
    ): SemaphoreFace = factory(permits, acquired, order, name)

    fun scene(
        permits: Int,
        acquired: Int = 0,
        order: WaitOrder = WaitOrder.FIFO,
        name: String? = null,
        test: suspend SemaphoreScene.() -> Unit,
    ) = runTest { SemaphoreScene(this, semaphore(permits, acquired, order, name)).test() }

    override val waitingKinds: List<WaitingKind>
        get() =
            listOf(1 to WaitOrder.FIFO, 2 to WaitOrder.FIFO, 1 to WaitOrder.PRIORITY).map { (weight, order) ->
                WaitingKind("acquire($weight), $order", closed = SemaphoreClosedException::class.java) {
                    SemaphorePlace(semaphore(weight, acquired = weight, order), weight)
                }
            }
}

/** All the permits are held at first, and each caller acquires them all. */
internal class SemaphorePlace(private val semaphore: SemaphoreFace, private val weight: Int) : WaitingPlace {
    private var isGranted = false

    override val waiting: Int
        get() = semaphore.waiting

    override suspend fun waitHere() = semaphore.acquire(weight)

    override suspend fun waitHere(timeout: Duration) = semaphore.tryAcquire(weight, timeout)

    override fun grant() {
        semaphore.release(weight)
        isGranted = true
    }

    override fun close(cause: Throwable?) = semaphore.close(cause)

    override fun assertIdle(holders: Int) {
        assertState(semaphore, available = if (isGranted) weight * (1 - holders) else 0)
        if (!isGranted || holders > 0) semaphore.release(weight)
        assertState(semaphore, available = weight)
        assertThrows<IllegalStateException> { semaphore.release() }
    }
}

/**
 * The contract of a semaphore for every kind of caller: a suspend function, a `select`, a future, or all in one queue.
 *
 * It consists of topics, interfaces of their own: an API that cannot do one of them (say [SemaphoreTimeouts], which
 * needs virtual time) implements the others.
 */
abstract class SemaphoreContract(override val factory: SemaphoreFactory) :
    WaiterContract,
    SemaphoreCounts,
    SemaphoreOrder,
    SemaphoreResizing,
    SemaphoreClosing,
    SemaphoreIdleness,
    SemaphorePriorities,
    SemaphoreUnfairness
