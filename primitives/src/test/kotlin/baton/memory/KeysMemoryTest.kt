package baton.memory

import baton.asClock
import baton.resilience.CircuitBreakers
import baton.resilience.Rate
import baton.resilience.RateLimiters
import baton.sync.Mutexes
import baton.sync.Semaphores
import kotlin.time.Duration.Companion.seconds
import kotlin.time.TestTimeSource
import kotlinx.coroutines.runBlocking
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.api.Test

/** The bytes of a key beside the key itself, with its place in the table. */
class KeysMemoryTest {
    private val keys = Array(COUNT) { it }

    private fun assertBytes(most: Long, count: Int, size: () -> Int, useAll: suspend () -> Unit) {
        val before = usedHeap()
        runBlocking { useAll() }
        val bytes = (usedHeap() - before) / count
        assertEquals(count, size())
        assertTrue(bytes <= most) { "$bytes bytes" }
    }

    @Test
    fun limiters_ofManyKeys_andOnceTheyAreIdle_nothing() {
        val time = TestTimeSource()
        val perKey = RateLimiters<Int>(Rate(10, 1.seconds), maxKeys = COUNT, clock = time.asClock())
        assertBytes(512, COUNT, perKey::size) { for (key in keys) check(perKey.tryAcquire(key)) }
        time += 1.seconds
        repeat(COUNT / 2 + 16) { perKey.tryAcquire(0) }
        assertEquals(1, perKey.size)
    }

    @Test
    fun breakers_thatHaveNeverFailed() {
        val perKey = CircuitBreakers<Int>(maxKeys = FEW)
        assertBytes(600, FEW, perKey::size) { repeat(FEW) { perKey.protect(keys[it]) {} } }
    }

    @Test
    fun mutexes_ofManyKeysThatAreHeld_andThenNothing() {
        val locks = Mutexes<Int>(maxKeys = COUNT)
        assertBytes(256, COUNT, locks::size) { held(locks) }
        for (key in keys) locks.unlock(locks.table.lease(key).also { it.end() })
        assertEquals(0, locks.size)
    }

    private suspend fun held(locks: Mutexes<Int>) {
        for (key in keys) locks.lock(key)
    }

    @Test
    fun semaphores_thatAreHeld() {
        val permits = Semaphores<Int>(permits = 2, maxKeys = FEW)
        assertBytes(300, FEW, permits::size) { repeat(FEW) { permits.acquire(keys[it], 1) } }
    }

    private companion object {
        /** A million take as much each, but more than the heap of a test has for certain. */
        const val COUNT = 200_000
        const val FEW = 50_000
    }
}
