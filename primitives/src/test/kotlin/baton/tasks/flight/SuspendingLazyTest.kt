package baton.tasks.flight

import baton.tasks.suspendingLazy
import java.io.IOException
import java.lang.ref.WeakReference
import kotlin.time.Duration.Companion.seconds
import kotlinx.coroutines.CompletableDeferred
import kotlinx.coroutines.CoroutineStart
import kotlinx.coroutines.ExperimentalCoroutinesApi
import kotlinx.coroutines.NonCancellable
import kotlinx.coroutines.async
import kotlinx.coroutines.awaitCancellation
import kotlinx.coroutines.cancelAndJoin
import kotlinx.coroutines.delay
import kotlinx.coroutines.launch
import kotlinx.coroutines.runBlocking
import kotlinx.coroutines.test.currentTime
import kotlinx.coroutines.test.runCurrent
import kotlinx.coroutines.test.runTest
import kotlinx.coroutines.withContext
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertNull
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.api.Test
import org.junit.jupiter.api.assertThrows

@OptIn(ExperimentalCoroutinesApi::class)
class SuspendingLazyTest {
    @Test
    fun load_runsOnce_forAllCallers() = runTest {
        var loads = 0
        val config = suspendingLazy {
            delay(1.seconds)
            "config ${++loads}"
        }
        assertEquals("suspendingLazy (not loaded)", config.toString())
        assertEquals(List(3) { "config 1" }, List(3) { async { config.get() } }.map { it.await() })
        assertEquals("config 1", config.get())
        assertEquals(1_000, currentTime)
        assertEquals("config 1", config.toString())
    }

    @Test
    fun failedLoad_isTriedAgainByTheNextCaller_andNullIsAValue() = runTest {
        var loads = 0
        val config = suspendingLazy {
            if (++loads < 3) throw IOException("$loads")
            null
        }
        assertEquals("1", assertThrows<IOException> { config.get() }.message)
        assertEquals("2", assertThrows<IOException> { config.get() }.message)
        repeat(2) { assertNull(config.get()) }
        assertEquals(3, loads)
    }

    @Test
    fun callerThatIsCancelled_leavesTheLoadToTheOthers_andTheLastOneCancelsIt() = runTest {
        var loads = 0
        var ended = 0
        val gate = CompletableDeferred<Int>()
        val config = suspendingLazy {
            loads++
            try {
                gate.await()
            } finally {
                ended++
            }
        }
        val first = launch(start = CoroutineStart.UNDISPATCHED) { config.get() }
        val second = launch(start = CoroutineStart.UNDISPATCHED) { config.get() }
        first.cancelAndJoin()
        assertEquals(0, ended)
        second.cancelAndJoin()
        runCurrent()
        assertEquals(1, ended)
        gate.complete(7)
        assertEquals(7, config.get())
        assertEquals(2, loads)
    }

    @Test
    fun get_insideItsOwnLoad_isRefused() = runTest {
        lateinit var get: suspend () -> Int
        val own = suspendingLazy("config") { get() }
        get = own::get
        val failure = assertThrows<IllegalStateException> { own.get() }
        assertEquals("suspendingLazy 'config' inside itself, must not wait for itself", failure.message)
    }

    @Test
    fun loadedValue_doesNotKeepItsLoadFunction() {
        val (config, payload) = loaded()
        repeat(50) {
            if (payload.get() == null) return
            System.gc()
            Thread.yield()
        }
        assertNull(payload.get(), "still referred to by $config")
    }

    private fun loaded() = runBlocking {
        val payload = ByteArray(1_000)
        val config = suspendingLazy { payload.size }
        assertEquals(1_000, config.get())
        config to WeakReference(payload)
    }

    /** It found no value, and began a run after the other one's had ended. */
    @Test
    fun manyThreads_loadOnce() {
        repeat(500) {
            val loads = java.util.concurrent.atomic.AtomicInteger()
            val config = suspendingLazy { loads.incrementAndGet() }
            val threads = List(3) { kotlin.concurrent.thread { runBlocking { config.get() } } }
            threads.forEach { it.join(120_000) }
            assertEquals(1, loads.get())
        }
        assertTrue(true)
    }

    @Test
    fun abandonedLoad_thatSucceedsAllTheSame_isKept() = runTest {
        var loads = 0
        val config = suspendingLazy {
            loads++
            try {
                awaitCancellation()
            } catch (_: kotlinx.coroutines.CancellationException) {
                5
            }
        }
        val caller = launch(start = CoroutineStart.UNDISPATCHED) { config.get() }
        caller.cancelAndJoin()
        runCurrent()
        assertEquals(5, config.get())
        assertEquals(1, loads)
    }

    /** The value changed for callers that came after its end. */
    @Test
    fun abandonedLoad_thatEndsAfterALaterOne_doesNotReplaceTheValue() = runTest {
        var loads = 0
        val gate = CompletableDeferred<Unit>()
        val config = suspendingLazy {
            val number = ++loads
            if (number == 1) withContext(NonCancellable) { gate.await() }
            number
        }
        launch(start = CoroutineStart.UNDISPATCHED) { config.get() }.cancelAndJoin()
        assertEquals(2, config.get())
        gate.complete(Unit)
        runCurrent()
        assertEquals(2, config.get())
    }
}
