package baton.lincheck

import baton.lincheck.world.Effort
import baton.lincheck.world.LincheckCoroutines
import baton.lincheck.world.NoAnswers
import baton.lincheck.world.VARIANT
import baton.sync.Semaphore
import baton.sync.WaitOrder
import java.util.concurrent.atomic.AtomicInteger
import org.jetbrains.lincheck.datastructures.DSLScenarioBuilder
import org.jetbrains.lincheck.datastructures.Operation
import org.jetbrains.lincheck.datastructures.Validate
import org.junit.jupiter.api.Tag
import org.junit.jupiter.api.Test

/**
 * [WaitOrder.UNFAIR]: a newcomer may take the permit to which a release has invited a waiter. The faster caller gets
 * the permit, so there is no sequential result to compare with: no operation returns anything. [nothingIsLost] checks
 * the invariant at the end of every interleaving.
 */
@Tag(VARIANT)
open class UnfairSemaphoreLincheckTest {
    internal open val effort get() = Effort.BRIEF
    private val semaphore = Semaphore(PERMITS, order = WaitOrder.UNFAIR)

    private val waiters = LincheckCoroutines()
    private val held = AtomicInteger()

    /** A coroutine of its own acquires, and waits if it must. */
    @Operation
    fun acquire() = waiters.start({ semaphore.acquire() }) { if (it.isSuccess) held.incrementAndGet() }

    @Operation
    fun tryAcquire() {
        if (semaphore.tryAcquire()) held.incrementAndGet()
    }

    @Operation
    fun cancel() = waiters.cancelOldest()

    @Operation
    fun release() {
        while (true) {
            val now = held.get()
            if (now == 0) return
            if (held.compareAndSet(now, now - 1)) return semaphore.release()
        }
    }

    @Operation
    fun step() {
        waiters.step()
    }

    @Validate
    fun nothingIsLost() {
        waiters.runAll()
        check(held.get() in 0..PERMITS) { "$held hold $PERMITS permits" }
        check(semaphore.availablePermits == PERMITS - held.get()) { "$held are held: $semaphore" }
        check(semaphore.waiting == 0 || held.get() == PERMITS) { "a caller waits for a free permit: $semaphore" }
    }

    private val scenarios: List<DSLScenarioBuilder.() -> Unit>
        get() = listOf(
            {
                initial {
                    actor(::tryAcquire)
                    actor(::acquire)
                    actor(::acquire)
                }
                parallel {
                    thread {
                        actor(::release)
                        actor(::step)
                    }
                    thread {
                        actor(::cancel)
                        actor(::tryAcquire)
                    }
                }
            },
        )

    @Test
    fun chosenInterleavings_loseNothing() =
        effort.checkInterleavings(javaClass, NoAnswers::class.java, scenarios, GENERATED)

    @Test
    fun threads_loseNothing() = effort.stress(NoAnswers::class.java, scenarios).check(javaClass)

    private companion object {
        const val PERMITS = 1
        const val GENERATED = 10
    }
}

class UnfairSemaphoreLincheckDeepTest : UnfairSemaphoreLincheckTest() {
    override val effort get() = Effort.DEEP
}
