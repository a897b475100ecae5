package baton.distributed

import java.util.Optional
import java.util.concurrent.CompletableFuture
import java.util.concurrent.CompletionStage
import java.util.function.Consumer
import kotlin.random.Random
import kotlinx.coroutines.Delay
import kotlinx.coroutines.InternalCoroutinesApi
import kotlinx.coroutines.test.TestDispatcher

/** The store as one node sees it: from a seed, calls are late, lost, refused or repeated, and so are their answers. */
@OptIn(InternalCoroutinesApi::class)
internal class FaultyStore(
    private val backing: Backing,
    private val time: TestDispatcher,
    private val random: Random,
    private val faults: Faults,
    private val nodes: SimulatedNode,
) : CoordinationStore {
    var isCutOff = false

    /** The store that all nodes share. It can lose documents. */
    class Backing(private val create: () -> InMemoryStore) {
        var store = create()
            private set

        /** As a store that is none: the last writer wins. */
        var ignoresVersions = false

        private var isFirst = true
        val isKnownNew
            get() = isFirst

        fun empty() {
            store = create()
            isFirst = false
        }

        fun lose(key: String) {
            store.read(key).toCompletableFuture().join().ifPresent { store.delete(key, it.version()) }
        }

        fun text(key: String): String = store.read(key).toCompletableFuture().join().map { it.text() }.orElse("")
    }

    private val inner
        get() = backing.store

    class Faults(
        var slow: Double = 0.0,
        var lost: Double = 0.0,
        var answerLost: Double = 0.0,
        var refused: Double = 0.0,
    )

    private fun later(millis: Long, block: () -> Unit) {
        (time as Delay).invokeOnTimeout(millis, { block() }, time)
    }

    private fun <T> call(begin: () -> CompletionStage<T>): CompletionStage<T> {
        val answer = CompletableFuture<T>()
        if (random.nextDouble() < faults.refused) {
            later(1) { answer.completeExceptionally(StoreUnavailableException("$this refuses", null)) }
            return answer
        }
        if (isCutOff || random.nextDouble() < faults.lost) return answer
        val there = if (random.nextDouble() < faults.slow) random.nextLong(SLOWEST) else random.nextLong(1, QUICK)
        val isAnswered = random.nextDouble() >= faults.answerLost
        later(there) {
            begin().whenComplete { value, _ ->
                if (isAnswered) {
                    val back = random.nextLong(1, QUICK)
                    later(back) { nodes.schedule(java.time.Duration.ZERO) { answer.complete(value) } }
                }
            }
        }
        return answer
    }

    override fun read(key: String): CompletionStage<Optional<StoredDocument>> = call { inner.read(key) }

    override fun compareAndSet(
        key: String,
        expected: Long,
        next: StoredDocument,
        rung: Collection<String>,
    ): CompletionStage<CasAnswer> = call {
        if (backing.ignoresVersions) {
            val before = inner.read(key).toCompletableFuture().join().map { it.version() }.orElse(0)
            val forced = StoredDocument(maxOf(before + 1, next.version()), next.text())
            inner.compareAndSet(key, before, forced, rung)
        } else {
            inner.compareAndSet(key, expected, next, rung)
        }
    }

    override fun delete(key: String, expected: Long): CompletionStage<Boolean> = call { inner.delete(key, expected) }

    override fun now(): CompletionStage<Long> = call { inner.now() }

    override fun listen(topic: String, bell: Consumer<String>): AutoCloseable =
        inner.listen(topic) { key ->
            if (!isCutOff && random.nextDouble() >= faults.lost) {
                later(random.nextLong(QUICK)) { nodes.schedule(java.time.Duration.ZERO) { bell.accept(key) } }
            }
        }

    override fun isKnownNew(): Boolean = backing.isKnownNew

    override fun close() {}

    override fun toString() = "FaultyStore"

    private companion object {
        const val SLOWEST = 6_000L
        const val QUICK = 20L
    }
}
