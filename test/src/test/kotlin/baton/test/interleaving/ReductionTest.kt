package baton.test.interleaving

import kotlinx.coroutines.launch
import kotlinx.coroutines.yield
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.api.Test

class ReductionTest {
    /** Fails if coroutine 4 takes its step before 3, and 3 before 2. */
    private val body = Body { checks ->
        val order = ArrayList<Int>()
        repeat(5) { i ->
            launch {
                repeat(4) { yield() }
                order += i
            }
        }
        checks += { check(!(order.indexOf(4) < order.indexOf(3) && order.indexOf(3) < order.indexOf(2))) { "$order" } }
    }

    @Test
    fun choices_areReduced_untilNoneCanBeLeftOut() {
        for (seed in 1..20) {
            val run = Run(body, RandomWalk(kotlin.random.Random(seed)), cancels = false)
            val failure = run.run(isPatient = false) ?: continue
            val failing = run.explorer.choices()
            val fewest = Reduction(body, failure).reduce(failing)
            assertTrue(2 * fewest.unusual.size <= failing.unusual.size, "$failing became $fewest")
            assertTrue(failure.isLike(runOf(fewest)))
            for (step in fewest.unusual) assertEquals(null, runOf(fewest.only(fewest.unusual - step)))
        }
    }

    private fun runOf(choices: StepChoices) = Run(body, Again(choices), cancels = false).run(isPatient = false)
}
