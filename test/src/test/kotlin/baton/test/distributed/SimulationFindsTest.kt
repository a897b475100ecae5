package baton.test.distributed

import baton.distributed.InMemoryStore
import baton.test.simulate
import kotlin.time.Duration.Companion.hours
import kotlin.time.Duration.Companion.seconds
import org.junit.jupiter.api.Assertions.assertThrows
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.api.Test

/** The checks of the simulations are worth something: each of these breaks a promise on which the rules rely. */
class SimulationFindsTest {
    @Test
    fun storeThatIgnoresVersions_isFound() {
        val error =
            assertThrows(AssertionError::class.java) {
                simulate(300, duration = 2.hours, store = { IgnoringVersions(InMemoryStore(it)) }) {
                    SharedWork(this).start(looksAfter = false)
                    faults { delayCalls(0.5) }
                }
            }
        assertTrue("fit the permits" in "$error", "$error")
    }

    @Test
    fun clocksOfDifferentSpeeds_areFound() {
        val error =
            assertThrows(AssertionError::class.java) {
                simulate(300, duration = 2.hours) {
                    SharedWork(this, longest = 60_000).start()
                    faults {
                        driftClocks(0.75)
                        cutOff(60.seconds)
                    }
                }
            }
        assertTrue("fit the permits" in "$error", "$error")
    }
}
