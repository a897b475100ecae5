package baton.lincheck.resilience

import baton.lincheck.world.LincheckCase
import baton.resilience.RetryBudget
import org.jetbrains.lincheck.datastructures.Operation

class RetryBudgetLincheckTest : LincheckCase {
    override val model: Class<*>
        get() = RetryBudgetSequential::class.java

    override val generated
        get() = 100

    private val budget = RetryBudget(ratio = 0.5, burst = 2)

    @Operation fun earn() = budget.earn()

    @Operation fun trySpend() = budget.trySpend()

    @Operation fun available() = budget.available
}

/** Counts halves. */
internal class RetryBudgetSequential {
    private var halves = 4

    fun earn() {
        halves = minOf(4, halves + 1)
    }

    fun trySpend(): Boolean {
        if (halves < 2) return false
        halves -= 2
        return true
    }

    fun available() = halves / 2
}
