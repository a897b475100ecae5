package baton.lincheck

import baton.lincheck.world.LincheckCase
import baton.lincheck.world.Scenario
import baton.lincheck.world.ScenarioGenerator
import baton.lincheck.world.after
import baton.lincheck.world.threads
import baton.lincheck.world.underLincheck
import baton.sync.Semaphore
import kotlinx.coroutines.launch
import kotlinx.coroutines.runBlocking
import org.jetbrains.lincheck.datastructures.Operation
import org.junit.jupiter.api.BeforeEach

/**
 * A model check in a JVM in which coroutines have waited before, as those of users. Lincheck restores static state
 * after each execution, and all that it reaches from there: it must not reach its own threads.
 */
class ThreadSlotsLincheckTest : LincheckCase {
    override val model: Class<*>
        get() = OnePermitSequential::class.java

    override val generated
        get() = ScenarioGenerator.ROUND

    private val semaphore = Semaphore(1)

    @BeforeEach
    fun waitOnThisThread() = runBlocking {
        val semaphore = Semaphore(1, acquired = 1)
        launch { semaphore.release() }
        semaphore.acquire()
    }

    @Operation(cancellableOnSuspension = false) suspend fun acquire() = underLincheck { semaphore.acquire() }

    @Operation fun tryAcquire() = semaphore.tryAcquire()

    @Operation fun release() = semaphore.release()

    override val scenarios: List<Scenario>
        get() =
            listOf(
                threads({ actor(::release) }, { actor(::acquire) }, { actor(::acquire) }).after { actor(::tryAcquire) }
            )
}
