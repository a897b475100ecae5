package baton.test.history

import baton.distributed.CasAnswer
import baton.distributed.CoordinationStore
import baton.distributed.InMemoryStore
import baton.distributed.JdbcStore
import baton.distributed.OutcomeUnknownException
import baton.distributed.StoreUnavailableException
import baton.distributed.StoredDocument
import baton.test.history.StoreHistory.Companion.assertLinearizable
import java.nio.file.Path
import java.util.concurrent.CompletableFuture
import java.util.concurrent.CompletionStage
import java.util.concurrent.atomic.AtomicInteger
import org.junit.jupiter.api.Assertions.assertThrows
import org.junit.jupiter.api.Test
import org.junit.jupiter.api.io.TempDir

/** Histories of the stores that need no server, and of stores with a fault. */
class StoreHistoryTest {
    @TempDir lateinit var folder: Path

    @Test fun inMemoryStore_isLinearizable() = InMemoryStore().let { store -> assertLinearizable { store } }

    @Test
    fun h2_isLinearizable() {
        JdbcStore.h2(folder.resolve("one")).use { store -> assertLinearizable(rounds = 5) { store } }
    }

    @Test
    fun connectionsToOneFileOfH2_areLinearizable() {
        val stores = ArrayList<JdbcStore>()
        try {
            assertLinearizable(rounds = 3) { JdbcStore.h2(folder.resolve("many")).also { stores += it } }
        } finally {
            stores.forEach { it.close() }
        }
    }

    /** A store whose every third answer to a write is a failure. */
    private class Failing(private val inner: CoordinationStore, private val failure: () -> Exception) :
        CoordinationStore by inner {
        private val calls = AtomicInteger()

        override fun compareAndSet(
            key: String,
            expected: Long,
            next: StoredDocument,
            rung: Collection<String>,
        ): CompletionStage<CasAnswer> {
            val answer = inner.compareAndSet(key, expected, next, rung)
            return if (calls.incrementAndGet() % 3 == 0) CompletableFuture.failedFuture(failure()) else answer
        }
    }

    @Test
    fun unknownOutcomes_areLinearizable() {
        val store = Failing(InMemoryStore()) { OutcomeUnknownException("cut", null) }
        assertLinearizable { store }
    }

    @Test
    fun refusalAfterAWrite_isFound() {
        val store = Failing(InMemoryStore()) { StoreUnavailableException("certainly not written", null) }
        assertThrows(AssertionError::class.java) { assertLinearizable { store } }
    }

    /** The last writer wins. */
    private class IgnoringVersions(private val inner: CoordinationStore) : CoordinationStore by inner {
        override fun compareAndSet(
            key: String,
            expected: Long,
            next: StoredDocument,
            rung: Collection<String>,
        ): CompletionStage<CasAnswer> =
            inner.read(key).thenCompose { before ->
                val version = before.map { it.version() }.orElse(0)
                inner.compareAndSet(key, version, StoredDocument(maxOf(version + 1, next.version()), next.text()), rung)
            }
    }

    @Test
    fun compareAndSetThatIgnoresTheVersion_isFound() {
        val store = IgnoringVersions(InMemoryStore())
        assertThrows(AssertionError::class.java) { assertLinearizable { store } }
    }
}
