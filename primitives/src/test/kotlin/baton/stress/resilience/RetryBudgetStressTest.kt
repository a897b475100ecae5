package baton.stress.resilience

import baton.resilience.RetryBudget
import baton.stress.Stress
import java.util.concurrent.atomic.AtomicLong
import kotlinx.coroutines.launch
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.api.Test

class RetryBudgetStressTest : Stress() {
    /** A budget that is never full lets its callers spend exactly what they have earned. */
    @Test
    fun budget_ofManyThreads_losesAndInventsNothing() {
        val budget = RetryBudget(ratio = 0.1, burst = BURST)
        repeat(BURST) { assertTrue(budget.trySpend()) }
        val spent = AtomicLong()
        stress(budget) {
            repeat(WORKERS) {
                launch {
                    repeat(ROUNDS) {
                        budget.earn()
                        if (chance(3) && budget.trySpend()) spent.incrementAndGet()
                    }
                    watchdog.progress()
                }
            }
        }
        assertEquals(WORKERS * ROUNDS / 10L, spent.get() + budget.available)
    }

    @Test
    fun budget_thatIsOftenFull_neverExceedsItsBurst() {
        val budget = RetryBudget(ratio = 1.0, burst = 2)
        stress(budget) {
            repeat(WORKERS) {
                launch {
                    repeat(ROUNDS) {
                        budget.earn()
                        assertTrue(budget.available in 0..2)
                        if (chance(5)) budget.trySpend()
                    }
                    watchdog.progress()
                }
            }
        }
    }

    private companion object {
        const val WORKERS = 8
        const val ROUNDS = 50_000
        const val BURST = WORKERS * ROUNDS
    }
}
