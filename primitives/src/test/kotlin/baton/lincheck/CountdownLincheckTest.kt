package baton.lincheck

import baton.lincheck.world.LATCH_COUNT
import baton.lincheck.world.LatchSequential
import baton.lincheck.world.LincheckCase
import baton.lincheck.world.Rare
import baton.lincheck.world.Scenario
import baton.lincheck.world.WaitGroupSequential
import baton.lincheck.world.after
import baton.lincheck.world.threads
import baton.lincheck.world.underLincheck
import baton.sync.Latch
import baton.sync.WaitGroup
import org.jetbrains.lincheck.datastructures.IntGen
import org.jetbrains.lincheck.datastructures.Operation
import org.jetbrains.lincheck.datastructures.Param

/** The core is one and the same, so that each takes only a part of the time that others take. */
abstract class CountdownLincheckBase(override val model: Class<*>) : LincheckCase {
    override val generated
        get() = 16
}

/** Cancellation and count-downs too many included. */
class LatchLincheckTest : CountdownLincheckBase(LatchSequential::class.java) {
    private val latch = Latch(LATCH_COUNT)

    @Operation fun countDown() = latch.countDown()

    @Operation(cancellableOnSuspension = true, promptCancellation = true)
    suspend fun await() = underLincheck { latch.await() }

    @Rare @Operation fun count() = latch.count

    @Rare @Operation fun waiting() = latch.waiting
}

/** Cancellation and misuse included. */
@Param(name = "n", gen = IntGen::class, conf = "1:2")
class WaitGroupLincheckTest : CountdownLincheckBase(WaitGroupSequential::class.java) {
    override val generated
        get() = 50

    private val group = WaitGroup()

    @Operation fun add(@Param(name = "n") n: Int) = group.add(n)

    @Operation fun done() = group.done()

    @Operation(cancellableOnSuspension = true, promptCancellation = true)
    suspend fun await() = underLincheck { group.await() }

    @Rare @Operation fun count() = group.count

    @Rare @Operation fun waiting() = group.waiting

    override val scenarios: List<Scenario>
        get() {
            val test = this
            return listOf(
                // Zero lasts for a moment only: earlier waiters are released, later callers wait.
                threads(
                        { actor(test::await) },
                        {
                            actor(test::done)
                            actor(test::add, 1)
                        },
                        {
                            actor(test::waiting)
                            actor(test::await)
                        },
                    )
                    .after { actor(test::add, 1) },
                // A zero does not release a later waiter, even if the waiters it releases are not woken yet.
                threads(
                        { actor(test::done) },
                        {
                            actor(test::add, 1)
                            actor(test::await)
                        },
                    )
                    .after { actor(test::add, 1) },
                // Two bring it to zero while one adds.
                threads(
                        {
                            actor(test::done)
                            actor(test::count)
                        },
                        {
                            actor(test::await)
                            actor(test::add, 1)
                        },
                        {
                            actor(test::done)
                            actor(test::await)
                        },
                    )
                    .after { actor(test::add, 2) },
            )
        }
}
