package baton.lincheck

import baton.lincheck.world.LincheckCase
import baton.lincheck.world.SharedRunSequential
import baton.lincheck.world.underLincheck
import baton.tasks.SingleFlight
import org.jetbrains.lincheck.datastructures.IntGen
import org.jetbrains.lincheck.datastructures.Operation
import org.jetbrains.lincheck.datastructures.Param

/** Callers come, leave and share the end of the run; cancellation included. */
@Param(name = "value", gen = IntGen::class, conf = "1:3")
class SharedRunLincheckTest : LincheckCase {
    override val model: Class<*>
        get() = SharedRunSequential::class.java

    override val generated
        get() = 40

    private val flight = SingleFlight<Int, Int>()

    @Operation(cancellableOnSuspension = true, promptCancellation = true)
    suspend fun run(): Int = underLincheck { flight.share(KEY) {} }

    @Operation
    fun finish(@Param(name = "value") value: Int) {
        val entry = flight.table.leaseIfPresent(KEY) ?: return
        flight.table.detach(entry)
        entry.value.succeed(value)
        flight.leave(entry)
    }

    private companion object {
        const val KEY = 0
    }
}
