package baton.resilience

import java.math.BigDecimal
import java.math.RoundingMode
import kotlin.random.Random
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertFalse
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.params.ParameterizedTest
import org.junit.jupiter.params.provider.ValueSource

/** A budget against exact decimals. */
class RetryBudgetTest {
    @ParameterizedTest
    @ValueSource(doubles = [0.0, 0.1, 0.2, 0.3, 1.0 / 3, 0.7, 1.0, 2.5, 1e-9, 1e9])
    fun budget_inAnySequence_earnsExactly(ratio: Double) {
        val budget = RetryBudget(ratio, burst = 10)
        val random = Random(1)
        var model = BigDecimal.TEN
        repeat(100_000) {
            if (random.nextInt(4) > 0) {
                budget.earn()
                model = (model + BigDecimal.valueOf(ratio)).min(BigDecimal.TEN)
            } else {
                val isSpent = model >= BigDecimal.ONE
                assertEquals(isSpent, budget.trySpend())
                if (isSpent) model -= BigDecimal.ONE
            }
            assertEquals(model.setScale(0, RoundingMode.FLOOR).toInt(), budget.available)
        }
    }

    @ParameterizedTest
    @ValueSource(ints = [0, 1, 9, 10, Int.MAX_VALUE])
    fun budget_full_earnsNothing(burst: Int) {
        val budget = RetryBudget(1.0, burst)
        budget.earn()
        assertEquals(burst, budget.available)
        assertEquals(burst > 0, budget.trySpend())
        assertEquals(maxOf(burst - 1, 0), budget.available)
    }

    @ParameterizedTest
    @ValueSource(doubles = [0.5, 0.25])
    fun budget_empty_hasOneAfterTheReciprocalOfTheRatio(ratio: Double) {
        val budget = RetryBudget(ratio, 1)
        assertTrue(budget.trySpend())
        repeat((1 / ratio).toInt()) {
            assertFalse(budget.trySpend())
            budget.earn()
        }
        assertTrue(budget.trySpend())
    }
}
