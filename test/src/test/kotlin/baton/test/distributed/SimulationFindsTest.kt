package baton.test.distributed

import baton.distributed.CasAnswer
import baton.distributed.CoordinationStore
import baton.distributed.InMemoryStore
import baton.distributed.StoredDocument
import baton.test.simulate
import java.util.concurrent.CompletionStage
import kotlin.time.Duration.Companion.hours
import kotlin.time.Duration.Companion.seconds
import org.junit.jupiter.api.Assertions.assertThrows
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.api.Test

/** The checks of the simulations are worth something: each of these breaks a promise on which the rules rely. */
class SimulationFindsTest {
    /** As a store that is none: the last writer wins. */
    private class IgnoringVersions(private val inner: CoordinationStore) : CoordinationStore by inner {
        override fun compareAndSet(
            key: String,
            expected: Long,
            next: StoredDocument,
            rung: Collection<String>,
        ): CompletionStage<CasAnswer> {
            val before = inner.read(key).toCompletableFuture().join().map { it.version() }.orElse(0)
            val forced = StoredDocument(maxOf(before + 1, next.version()), next.text())
            return inner.compareAndSet(key, before, forced, rung)
        }

        override fun isKnownNew() = true
    }

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
