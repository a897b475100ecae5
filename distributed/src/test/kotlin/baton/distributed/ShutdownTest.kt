package baton.distributed

import java.util.Optional
import java.util.concurrent.CompletableFuture
import java.util.concurrent.CompletionStage
import kotlin.time.Duration.Companion.minutes
import kotlin.time.Duration.Companion.seconds
import kotlinx.coroutines.currentCoroutineContext
import kotlinx.coroutines.delay
import kotlinx.coroutines.launch
import kotlinx.coroutines.test.runTest
import kotlinx.coroutines.withTimeout
import org.junit.jupiter.api.Assertions.assertFalse
import org.junit.jupiter.api.Test

class ShutdownTest {
    /** Reads of locks are answered by hand. */
    private class HeldReads(private val inner: CoordinationStore) : CoordinationStore by inner {
        val held = ArrayList<() -> Unit>()

        override fun read(key: String): CompletionStage<Optional<StoredDocument>> {
            if (":semaphore:" !in key) return inner.read(key)
            val answer = CompletableFuture<Optional<StoredDocument>>()
            held += { inner.read(key).thenAccept(answer::complete) }
            return answer
        }
    }

    private suspend fun open(store: CoordinationStore) =
        Cluster.open(store, lease = 10.seconds, context = currentCoroutineContext())

    /** It waited for a write that nothing began. */
    @Test
    fun shutdown_ofAMemberThatIsLostMeanwhile_ends() = runTest {
        val store = InMemoryStore()
        val cluster = open(store)
        val held = cluster.mutex("account").lock()
        val end = launch { withTimeout(2.minutes) { cluster.shutdown() } }
        delay(1.seconds)
        val share = store.read("baton:mutex:account").toCompletableFuture().get().orElseThrow().text()
        val member = "baton:member:" + checkNotNull(Regex("\"member\":\"([^\"]+)").find(share)).groupValues[1]
        store.delete(member, store.read(member).toCompletableFuture().get().orElseThrow().version())
        end.join()
        assertFalse(end.isCancelled)
        assertFalse(held.isHeld)
    }

    /** It waited until the document had the number of permits that it has. */
    @Test
    fun shutdown_afterARequestThatIsCancelledAsTheDocumentIsRead_ends() = runTest {
        val inner = InMemoryStore()
        val other = open(inner)
        val held = other.semaphore("uplink", permits = 2).acquire()
        val store = HeldReads(inner)
        val cluster = open(store)
        val waiter = launch { cluster.semaphore("uplink", permits = 2).acquire(2) }
        delay(1.seconds)
        waiter.cancel()
        delay(1.seconds)
        store.held.forEach { it() }
        delay(1.seconds)
        val end = launch { withTimeout(2.minutes) { cluster.shutdown() } }
        delay(1.seconds)
        store.held.forEach { it() }
        end.join()
        assertFalse(end.isCancelled)
        held.release()
        other.shutdown()
    }
}
