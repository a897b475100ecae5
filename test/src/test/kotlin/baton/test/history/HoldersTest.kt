package baton.test.history

import baton.BatonClock
import baton.distributed.CasAnswer
import baton.distributed.CoordinationStore
import baton.distributed.InMemoryStore
import baton.distributed.StoredDocument
import baton.test.SimulationScope
import baton.test.simulate
import java.time.Duration
import java.util.concurrent.CompletableFuture
import java.util.concurrent.CompletionStage
import kotlin.time.Duration.Companion.milliseconds
import kotlinx.coroutines.delay
import org.junit.jupiter.api.Assertions.assertNotNull
import org.junit.jupiter.api.Assertions.assertNull
import org.junit.jupiter.api.Assertions.assertThrows
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.api.Test

/** The checker of who held what, and faults that it must find. */
class HoldersTest {
    @Test
    fun intervalsThatTouch_fit() {
        val holders = Holders(permits = 2)
        holders.hold("a", 2, 0)(10)
        holders.hold("b", 1, 10)(20)
        holders.hold("c", 1, 15)
        assertNull(holders.violation())
    }

    @Test
    fun intervalsThatOverlap_areFound() {
        val holders = Holders(permits = 2)
        holders.hold("a", 2, 0)(11)
        holders.hold("b", 1, 10)(20)
        assertNotNull(holders.violation())
    }

    /** Three nodes take a mutex in turn, for up to half a minute. */
    private fun run(seeds: Int = 200, store: (BatonClock) -> CoordinationStore) =
        simulate(seeds, store = store) {
            val holders = Holders(permits = 1)
            repeat(3) { node { repeat(4) { cluster.mutex("m").hold(this@simulate, name, holders) } } }
            afterwards { holders.violation()?.let { throw AssertionError(it) } }
        }

    private suspend fun baton.distributed.DistributedMutex.hold(
        world: SimulationScope,
        name: String,
        holders: Holders,
    ) {
        lock().use { lease ->
            val end = holders.hold(name, 1, world.nanos)
            lease.onLost { end(world.nanos) }
            delay(world.random.nextLong(1, 30_000).milliseconds)
            end(world.nanos)
        }
    }

    private fun assertFound(store: (BatonClock) -> CoordinationStore) {
        val error = assertThrows(AssertionError::class.java) { run(store = store) }
        assertTrue("more than 1 at" in "$error", "$error")
    }

    @Test fun soundStore_passes() = run(seeds = 40) { InMemoryStore(it) }

    /** Between the tenth and the fortieth second, a heartbeat is acknowledged at once and written much later. */
    @Test
    fun lateHeartbeat_isFound() = assertFound { clock ->
        val inner = InMemoryStore(clock)
        val start = clock.nanoTime()
        object : CoordinationStore by inner {
            override fun compareAndSet(
                key: String,
                expected: Long,
                next: StoredDocument,
                rung: Collection<String>,
            ): CompletionStage<CasAnswer> {
                val isLate =
                    ":member:" in key && expected > 0 && clock.nanoTime() - start in 10_000_000_000..40_000_000_000
                if (!isLate) return inner.compareAndSet(key, expected, next, rung)
                clock.schedule(Duration.ofSeconds(30)) { inner.compareAndSet(key, expected, next, rung) }
                return CompletableFuture.completedFuture(CasAnswer.stored())
            }

            override fun isKnownNew() = true
        }
    }

    /** A second after a member has given its permit back, it is given back once more, whoever has it by then. */
    @Test
    fun releaseThatIsSentTwice_isFound() = assertFound { clock ->
        val inner = InMemoryStore(clock)
        object : CoordinationStore by inner {
            override fun compareAndSet(
                key: String,
                expected: Long,
                next: StoredDocument,
                rung: Collection<String>,
            ): CompletionStage<CasAnswer> {
                val before = inner.read(key).toCompletableFuture().join()
                val isRelease =
                    ":mutex:" in key &&
                        before.map { it.text() }.orElse("").holder() !in listOf("", next.text().holder())
                val answer = inner.compareAndSet(key, expected, next, rung)
                if (isRelease && answer.toCompletableFuture().join().isStored) {
                    clock.schedule(Duration.ofSeconds(1)) { releaseAgain(key) }
                }
                return answer
            }

            private fun releaseAgain(key: String) {
                val document = inner.read(key).toCompletableFuture().join().orElse(null) ?: return
                val freed = document.text().replace(HELD, "\"held\":[]")
                inner.compareAndSet(key, document.version(), StoredDocument(document.version() + 1, freed), emptyList())
            }

            override fun isKnownNew() = true
        }
    }

    private companion object {
        val HELD = Regex("\"held\":\\[[^]]*]")

        fun String.holder(): String =
            HELD.find(this)?.value?.let { Regex("\"member\":\"[^\"]*\"").find(it)?.value }.orEmpty()
    }
}
