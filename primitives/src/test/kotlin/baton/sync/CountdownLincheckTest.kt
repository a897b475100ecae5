package baton.sync

import org.jetbrains.lincheck.datastructures.IntGen
import org.jetbrains.lincheck.datastructures.Operation
import org.jetbrains.lincheck.datastructures.Param
import org.junit.jupiter.api.Test

abstract class CountdownLincheckBase(private val sequential: Class<*>) {
    internal open val effort get() = Effort.SHORT

    @Test
    fun chosenInterleavings_areLinearizable() = effort.modelChecking(sequential).check(javaClass)

    @Test
    fun threads_areLinearizable() = effort.stress(sequential).check(javaClass)
}

/** Cancellation and count-downs too many included. */
open class LatchLincheckTest : CountdownLincheckBase(LatchSequential::class.java) {
    private val latch = Latch(LATCH_COUNT)

    @Operation
    fun countDown() = latch.countDown()

    @Operation(cancellableOnSuspension = true, promptCancellation = true)
    suspend fun await() = underLincheck { latch.await() }

    @Operation
    fun count() = latch.count

    @Operation
    fun waiting() = latch.waiting
}

class LatchLincheckDeepTest : LatchLincheckTest() {
    override val effort get() = Effort.DEEP
}

/** Cancellation and misuse included. */
@Param(name = "n", gen = IntGen::class, conf = "1:2")
open class WaitGroupLincheckTest : CountdownLincheckBase(WaitGroupSequential::class.java) {
    private val group = WaitGroup()

    @Operation
    fun add(@Param(name = "n") n: Int) = group.add(n)

    @Operation
    fun done() = group.done()

    @Operation(cancellableOnSuspension = true, promptCancellation = true)
    suspend fun await() = underLincheck { group.await() }

    @Operation
    fun count() = group.count

    @Operation
    fun waiting() = group.waiting
}

class WaitGroupLincheckDeepTest : WaitGroupLincheckTest() {
    override val effort get() = Effort.DEEP
}
