package baton.test.distributed

import baton.distributed.CasAnswer
import baton.distributed.CoordinationStore
import baton.distributed.StoredDocument
import java.util.concurrent.CompletionStage

/** As a store that is none: the last writer wins. */
internal class IgnoringVersions(private val inner: CoordinationStore) : CoordinationStore by inner {
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
