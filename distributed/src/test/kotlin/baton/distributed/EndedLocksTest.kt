package baton.distributed

import baton.distributed.rules.EndedState
import baton.distributed.rules.NamesState
import java.util.Optional
import java.util.concurrent.CompletableFuture
import java.util.concurrent.CompletionStage
import java.util.concurrent.ConcurrentHashMap
import kotlin.coroutines.ContinuationInterceptor
import kotlin.random.Random
import kotlin.time.Duration
import kotlin.time.Duration.Companion.milliseconds
import kotlin.time.Duration.Companion.seconds
import kotlinx.coroutines.Job
import kotlinx.coroutines.coroutineScope
import kotlinx.coroutines.delay
import kotlinx.coroutines.launch
import kotlinx.coroutines.test.TestScope
import kotlinx.coroutines.test.currentTime
import kotlinx.coroutines.test.runTest
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertFalse
import org.junit.jupiter.api.Assertions.assertNull
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.api.Test

/** Documents of locks that no member uses any more, and of members that are no more, in virtual time. */
class EndedLocksTest {
    private val clusters = ArrayList<Cluster>()
    private var micros = 1_000_000L

    /** Takes up to [most] milliseconds to do a call and as long again to answer, and can be away. */
    private inner class SlowStore(private val scope: TestScope, private val most: Int, seed: Int = 1) :
        CoordinationStore {
        val inner = InMemoryStore()
        val keys: MutableSet<String> = ConcurrentHashMap.newKeySet()
        var isAway = false
        var registrations = 0
        private val random = Random(seed)

        private fun <T> slowly(call: () -> CompletionStage<T>): CompletionStage<T> {
            if (isAway) return CompletableFuture.failedFuture(StoreUnavailableException("the store is away", null))
            if (most == 0) return call()
            val answer = CompletableFuture<T>()
            scope.backgroundScope.launch {
                delay(random.nextInt(most).milliseconds)
                val done = call().toCompletableFuture().join()
                delay(random.nextInt(most).milliseconds)
                answer.complete(done)
            }
            return answer
        }

        override fun read(key: String): CompletionStage<Optional<StoredDocument>> = slowly { inner.read(key) }

        override fun compareAndSet(
            key: String,
            expected: Long,
            next: StoredDocument,
            rung: Collection<String>,
        ): CompletionStage<CasAnswer> = slowly {
            keys += key
            if (":names:" in key) registrations++
            inner.compareAndSet(key, expected, next, rung)
        }

        override fun delete(key: String, expected: Long): CompletionStage<Boolean> = slowly {
            inner.delete(key, expected)
        }

        override fun now(): CompletionStage<Long> = slowly { CompletableFuture.completedFuture(micros++) }

        override fun listen(topic: String, bell: java.util.function.Consumer<String>) = inner.listen(topic, bell)

        override fun isKnownNew() = true

        override fun close() = inner.close()

        fun text(key: String): String? = inner.read(key).toCompletableFuture().join().map { it.text() }.orElse(null)

        fun count(kind: String) = keys.count { ":$kind" in it && text(it) != null }

        fun write(key: String, text: String) {
            keys += key
            val next = StoredDocument(5, text)
            assertTrue(inner.compareAndSet(key, 0, next, emptyList()).toCompletableFuture().join().isStored)
        }
    }

    private fun TestScope.cluster(store: CoordinationStore): Cluster =
        Cluster.open(
                store,
                LEASE,
                "m${clusters.size}",
                "test",
                null,
                backgroundScope.coroutineContext.minusKey(Job) + coroutineContext[ContinuationInterceptor]!!,
                Random(clusters.size),
            )
            .also { clusters += it }

    private fun test(body: suspend TestScope.() -> Unit) = runTest {
        try {
            body()
        } finally {
            clusters.forEach { it.close() }
        }
    }

    private fun namesOf(store: SlowStore, key: String) =
        store.text("test:names:${NamesState.indexOf(key)}")?.let { NamesState.parse(it) }

    @Test
    fun unusedLock_isRemovedFromTheStore() = test {
        val store = SlowStore(this, 0)
        val cluster = cluster(store)
        cluster.mutex("account").withLock {}
        delay(LEASE * 5)
        assertTrue(KEY in namesOf(store, KEY)!!.keys())
        delay(LEASE * 3)
        assertNull(store.text(KEY))
        assertEquals(emptyList<String>(), namesOf(store, KEY)!!.keys())
    }

    @Test
    fun lockInUseElsewhere_stays() = test {
        val store = SlowStore(this, 0)
        val (one, other) = List(2) { cluster(store) }
        one.mutex("account").withLock {}
        val lease = other.mutex("account").lock()
        delay(LEASE * 20)
        lease.check()
        assertTrue(KEY in namesOf(store, KEY)!!.keys())
        lease.release()
        delay(LEASE * 9)
        assertNull(store.text(KEY))
    }

    @Test
    fun endedLock_isGrantedAtOnce_withAHigherToken_alsoIfTheStoreHasAnOlderClock() = test {
        val store = SlowStore(this, 0)
        val cluster = cluster(store)
        val before = cluster.mutex("account").withLock { it.fencingToken }
        delay(LEASE * 9)
        assertNull(store.text(KEY))
        micros = 1
        val began = currentTime
        val after = cluster.mutex("account").withLock { it.fencingToken }
        assertTrue(after > before, "$after after $before")
        assertEquals(0, currentTime - began)
    }

    @Test
    fun endThatItsMemberDidNotFinish_isFinishedByTheNext() = test {
        val store = SlowStore(this, 0)
        store.write(KEY, EndedState(1L shl 50).toText())
        store.write("test:names:${NamesState.indexOf(KEY)}", NamesState(listOf(KEY), 0).toText())
        val began = currentTime
        val lease = cluster(store).mutex("account").lock()
        assertTrue(lease.fencingToken > 1L shl 50)
        assertEquals(0, currentTime - began)
    }

    @Test
    fun endThatAnotherMemberFinishes_takesNothingFromTheNewLock() = test {
        var registrations = 0
        repeat(60) { seed ->
            val store = SlowStore(this, 30, seed)
            val members = List(3) { cluster(store) }
            val random = Random(seed)
            var inside = 0
            var last = 0L
            coroutineScope {
                for (member in members) {
                    launch {
                        repeat(4) {
                            member.mutex("account").withLock { lease ->
                                assertEquals(1, ++inside)
                                assertTrue(lease.fencingToken > last, "seed $seed")
                                last = lease.fencingToken
                                delay(random.nextInt(20).milliseconds)
                                inside--
                            }
                            delay(LEASE * 6 + random.nextInt(LEASE.inWholeMilliseconds.toInt()).milliseconds)
                        }
                    }
                }
            }
            delay(LEASE * 9)
            assertNull(store.text(KEY), "seed $seed")
            assertEquals(emptyList<String>(), namesOf(store, KEY)!!.keys(), "seed $seed")
            registrations += store.registrations
            members.forEach { it.close() }
        }
        assertTrue(registrations > 200, "$registrations: the locks have not ended in between")
    }

    @Test
    fun restingLocks_areNotKept() = test {
        val cluster = cluster(SlowStore(this, 0))
        val kept = cluster.mutex("kept")
        for (i in 1..200) cluster.mutex("order $i").withLock {}
        delay(LEASE * 9)
        val end = System.nanoTime() + 120.seconds.inWholeNanoseconds
        while ("locks = 1," !in cluster.toString()) {
            assertTrue(System.nanoTime() < end, cluster.toString())
            System.gc()
        }
        kept.withLock {}
        assertFalse(kept.isHeldHere)
    }

    @Test
    fun documentOfAFormerLife_isRemoved() = test {
        val store = SlowStore(this, 0)
        val cluster = cluster(store)
        val lease = cluster.mutex("account").lock()
        store.isAway = true
        lease.awaitLost()
        delay(LEASE * 2)
        store.isAway = false
        cluster.mutex("account").withLock {}
        delay(LEASE)
        assertEquals(1, store.count("member"))
        cluster.close()
        assertEquals(0, store.count("member"))
    }

    private companion object {
        val LEASE: Duration = 900.milliseconds
        const val KEY = "test:mutex:account"
    }
}
