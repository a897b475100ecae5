package baton.distributed

import java.time.Instant
import java.util.Optional
import java.util.concurrent.CompletableFuture
import java.util.concurrent.CompletionStage
import java.util.function.Consumer
import kotlin.coroutines.ContinuationInterceptor
import kotlin.random.Random
import kotlin.time.Duration
import kotlin.time.Duration.Companion.minutes
import kotlin.time.Duration.Companion.seconds
import kotlinx.coroutines.CoroutineDispatcher
import kotlinx.coroutines.Job
import kotlinx.coroutines.test.TestScope
import kotlinx.coroutines.test.currentTime
import kotlinx.coroutines.test.runTest
import org.junit.jupiter.api.Assertions.assertTrue

/** Members of one store, in virtual time. */
abstract class ClusterFixture {
    internal val store = CountingStore()
    internal val clusters = ArrayList<Cluster>()

    internal fun TestScope.cluster(name: String, lease: Duration = LEASE): Cluster =
        Cluster.open(
                store,
                lease,
                name,
                "test",
                null,
                backgroundScope.coroutineContext.minusKey(Job) +
                    (coroutineContext[ContinuationInterceptor] as CoroutineDispatcher),
                Random(clusters.size),
            )
            .also { clusters += it }

    internal fun cluster(test: suspend TestScope.() -> Unit) =
        runTest(timeout = 1.minutes) {
            store.millis = { testScheduler.currentTime }
            try {
                test()
            } finally {
                clusters.forEach { it.close() }
            }
        }

    internal companion object {
        val LEASE = 10.seconds
    }
}

/** Counts the calls, and can lose documents. */
internal class CountingStore : CoordinationStore by InMemoryStore() {
    /** The clock of the store. */
    var millis: () -> Long = { 0 }
    private val inner = InMemoryStore { Instant.parse("2026-01-01T00:00:00Z").plusMillis(millis()) }
    var calls = 0
    var refused = 0
    var isAway = false

    /** The key of a document that is removed as soon as it is written. */
    var vanishing: String? = null

    private fun <T> asked(call: () -> CompletionStage<T>): CompletionStage<T> {
        if (isAway) {
            refused++
            return CompletableFuture.failedFuture(StoreUnavailableException("$this is away", null))
        }
        calls++
        return call()
    }

    override fun read(key: String): CompletionStage<Optional<StoredDocument>> = asked { inner.read(key) }

    override fun compareAndSet(
        key: String,
        expected: Long,
        next: StoredDocument,
        rung: Collection<String>,
    ): CompletionStage<CasAnswer> = asked {
        inner.compareAndSet(key, expected, next, rung).also {
            if (key == vanishing) {
                vanishing = null
                remove(key)
            }
        }
    }

    override fun now(): CompletionStage<Long> = asked { inner.now() }

    override fun delete(key: String, expected: Long): CompletionStage<Boolean> = inner.delete(key, expected)

    override fun listen(topic: String, bell: Consumer<String>): AutoCloseable = inner.listen(topic, bell)

    override fun isKnownNew(): Boolean = true

    fun remove(key: String) {
        val document = inner.read(key).toCompletableFuture().join().get()
        assertTrue(inner.delete(key, document.version()).toCompletableFuture().join())
    }

    fun text(key: String): String? = inner.read(key).toCompletableFuture().join().map { it.text() }.orElse(null)
}
