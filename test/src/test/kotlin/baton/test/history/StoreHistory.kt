package baton.test.history

import baton.distributed.CoordinationStore
import baton.distributed.StoreUnavailableException
import baton.distributed.StoredDocument
import java.util.Optional
import java.util.concurrent.CompletionException
import java.util.concurrent.CompletionStage
import java.util.concurrent.ConcurrentLinkedQueue
import java.util.concurrent.ExecutionException
import java.util.concurrent.TimeUnit
import java.util.concurrent.TimeoutException
import java.util.concurrent.atomic.AtomicLong
import kotlin.concurrent.thread
import kotlin.random.Random
import org.junit.jupiter.api.Assertions.assertNull

/** Clients on threads of their own, which read, write and remove a few documents of a store at the same time. */
class StoreHistory(private val keyPrefix: String, private val random: Random) {
    private class Entry(val key: String, val call: RecordedCall<DocumentModel.Input, Any>)

    private val moments = AtomicLong()
    private val versions = AtomicLong()
    private val entries = ConcurrentLinkedQueue<Entry>()

    /**
     * Records [calls] of each of the stores, which are connections to the same documents, on a thread for each.
     *
     * @param keys how many documents; each one that is there already counts as an error.
     */
    fun record(stores: List<CoordinationStore>, calls: Int, keys: Int = 2) {
        val clients =
            stores.map { store ->
                val random = Random(random.nextLong())
                thread { Client(store, random, keys).run(calls) }
            }
        clients.forEach { it.join(TimeUnit.MINUTES.toMillis(2)) }
        check(clients.none { it.isAlive }) { "a client has not ended within two minutes" }
    }

    private inner class Client(
        private val store: CoordinationStore,
        private val random: Random,
        private val keys: Int,
    ) {
        private val seen = HashMap<String, Long>()

        fun run(calls: Int) {
            repeat(calls) {
                val key = keyPrefix + random.nextInt(keys)
                val expected = seen[key] ?: 0
                when (random.nextInt(8)) {
                    0,
                    1 -> read(key)
                    2 -> if (call(key, DocumentModel.Delete(expected)) { delete(key, expected) } == true) seen[key] = 0
                    else -> write(key, expected)
                }
            }
        }

        private fun read(key: String) {
            val answer = call(key, DocumentModel.Read) { read(key) } as Optional<*>?
            if (answer != null) seen[key] = (answer.orElse(null) as StoredDocument?)?.version() ?: 0
        }

        private fun write(key: String, expected: Long) {
            val version = versions.accumulateAndGet(expected) { last, seen -> maxOf(last, seen) + 1 }
            val next = StoredDocument(version, "\"of ${Thread.currentThread().name}\"")
            call(key, DocumentModel.Write(expected, next)) { compareAndSet(key, expected, next, emptyList()) }
                ?.let {
                    seen[key] = if (it.isStored) version else it.current.map { other -> other.version() }.orElse(0)
                }
        }

        /** Null if the call has failed. One that certainly did nothing is no part of the history. */
        private fun <T : Any> call(
            key: String,
            input: DocumentModel.Input,
            begin: CoordinationStore.() -> CompletionStage<T>,
        ): T? {
            val from = moments.incrementAndGet()
            val answer =
                try {
                    store.begin().toCompletableFuture().get(LIMIT_SECONDS, TimeUnit.SECONDS)
                } catch (e: ExecutionException) {
                    val cause = (e.cause as? CompletionException)?.cause ?: e.cause
                    if (cause is StoreUnavailableException) return null
                    null
                } catch (_: TimeoutException) {
                    null
                }
            entries += Entry(key, RecordedCall(input, from, answer, moments.incrementAndGet()))
            return answer
        }
    }

    /** Each document by itself: a history is linearizable if that of each object is. */
    fun violation(): String? =
        entries.groupBy({ it.key }, { it.call }).firstNotNullOfOrNull { (key, calls) ->
            Linearizability(DocumentModel).violationOf(calls)?.let { "$key is $it" }
        }

    companion object {
        private const val LIMIT_SECONDS = 30L
        private const val CLIENTS = 8

        /**
         * For the tests of a store: some rounds of eight clients on new documents, and a failure if the calls are not
         * linearizable. [connect] is called for each client; the results may be one and the same.
         */
        fun assertLinearizable(rounds: Int = 10, calls: Int = 25, seed: Long = 1, connect: () -> CoordinationStore) {
            val stores = List(CLIENTS) { connect() }
            val random = Random(seed)
            val run = java.lang.Long.toString(System.nanoTime(), Character.MAX_RADIX)
            repeat(rounds) { round ->
                val history = StoreHistory("history:$run:$round:", Random(random.nextLong()))
                history.record(stores, calls)
                assertNull(history.violation()) { "round $round" }
            }
        }
    }
}
