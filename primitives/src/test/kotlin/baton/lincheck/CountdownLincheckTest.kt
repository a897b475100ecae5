package baton.lincheck

import baton.lincheck.world.Effort
import baton.lincheck.world.LATCH_COUNT
import baton.lincheck.world.LatchSequential
import baton.lincheck.world.Rare
import baton.lincheck.world.WaitGroupSequential
import baton.lincheck.world.underLincheck
import baton.sync.Latch
import baton.sync.WaitGroup
import org.jetbrains.lincheck.datastructures.DSLScenarioBuilder
import org.jetbrains.lincheck.datastructures.IntGen
import org.jetbrains.lincheck.datastructures.Operation
import org.jetbrains.lincheck.datastructures.Param
import org.junit.jupiter.api.Test

/** The core is one and the same, so that each takes only a part of the time that others take. */
abstract class CountdownLincheckBase(private val sequential: Class<*>) {
    internal open val effort get() = Effort.SHORT

    /** How many scenarios the ordinary run generates. */
    internal open val generated get() = 16

    /** Scenarios written by hand, because random generation may miss them. */
    internal open val scenarios: List<DSLScenarioBuilder.() -> Unit> get() = emptyList()

    @Test
    fun chosenInterleavings_areLinearizable() =
        effort.checkInterleavings(javaClass, sequential, scenarios, generated)

    @Test
    fun threads_areLinearizable() = effort.stress(sequential, scenarios).check(javaClass)
}

/** Cancellation and count-downs too many included. */
open class LatchLincheckTest : CountdownLincheckBase(LatchSequential::class.java) {
    private val latch = Latch(LATCH_COUNT)

    @Operation
    fun countDown() = latch.countDown()

    @Operation(cancellableOnSuspension = true, promptCancellation = true)
    suspend fun await() = underLincheck { latch.await() }

    @Rare
    @Operation
    fun count() = latch.count

    @Rare
    @Operation
    fun waiting() = latch.waiting
}

class LatchLincheckDeepTest : LatchLincheckTest() {
    override val effort get() = Effort.DEEP
}

/** Cancellation and misuse included. */
@Param(name = "n", gen = IntGen::class, conf = "1:2")
open class WaitGroupLincheckTest : CountdownLincheckBase(WaitGroupSequential::class.java) {
    override val generated get() = 50

    private val group = WaitGroup()

    @Operation
    fun add(@Param(name = "n") n: Int) = group.add(n)

    @Operation
    fun done() = group.done()

    @Operation(cancellableOnSuspension = true, promptCancellation = true)
    suspend fun await() = underLincheck { group.await() }

    @Rare
    @Operation
    fun count() = group.count

    @Rare
    @Operation
    fun waiting() = group.waiting

    override val scenarios: List<DSLScenarioBuilder.() -> Unit>
        get() {
            val test = this
            return listOf(
                { // Zero lasts for a moment only: earlier waiters are released, later callers wait.
                    initial { actor(test::add, 1) }
                    parallel {
                        thread { actor(test::await) }
                        thread {
                            actor(test::done)
                            actor(test::add, 1)
                        }
                        thread {
                            actor(test::waiting)
                            actor(test::await)
                        }
                    }
                },
                { // A zero does not release a later waiter, even if the waiters it releases are not woken yet.
                    initial { actor(test::add, 1) }
                    parallel {
                        thread { actor(test::done) }
                        thread {
                            actor(test::add, 1)
                            actor(test::await)
                        }
                    }
                },
                { // Two bring it to zero while one adds.
                    initial { actor(test::add, 2) }
                    parallel {
                        thread {
                            actor(test::done)
                            actor(test::count)
                        }
                        thread {
                            actor(test::await)
                            actor(test::add, 1)
                        }
                        thread {
                            actor(test::done)
                            actor(test::await)
                        }
                    }
                },
            )
        }
}

class WaitGroupLincheckDeepTest : WaitGroupLincheckTest() {
    override val effort get() = Effort.DEEP
}
