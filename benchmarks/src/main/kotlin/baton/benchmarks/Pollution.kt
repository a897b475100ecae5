package baton.benchmarks

import baton.channels.Channel as BatonChannel
import baton.interop.AsyncMutex
import baton.interop.AsyncSemaphore
import baton.sync.Mutex as BatonMutex
import baton.sync.Semaphore as BatonSemaphore
import baton.sync.WaitOrder
import baton.sync.withLock
import kotlinx.coroutines.CoroutineScope
import kotlinx.coroutines.Dispatchers
import kotlinx.coroutines.channels.Channel as KotlinxChannel
import kotlinx.coroutines.launch
import kotlinx.coroutines.runBlocking
import kotlinx.coroutines.selects.select
import kotlinx.coroutines.withTimeoutOrNull
import kotlinx.coroutines.yield

/**
 * Uses semaphores, mutexes, read-write locks, channels, a select and futures for a second, Baton's and
 * kotlinx.coroutines', as an application does. The compiler keeps that profile: a call that a benchmark alone would see
 * with one target has several.
 */
object Pollution {
    private const val NANOS = 1_000_000_000L
    private const val CALLERS = 16
    private const val TURNS = 100

    fun run() {
        val end = System.nanoTime() + NANOS
        while (System.nanoTime() < end) runBlocking(Dispatchers.Default) { useAll() }
    }

    private fun CoroutineScope.useAll() {
        for (gate in gates()) repeat(CALLERS) { launch { useGate(gate) } }
        useChannels()
        useFutures()
    }

    private fun gates(): List<Gate> {
        val fifo = semaphoreGate("baton", permits = 2)
        val byPriority = BatonGate(BatonSemaphore(2, order = WaitOrder.PRIORITY), weight = 1)
        val locks = readWriteGates("baton")
        return listOf(
            fifo,
            byPriority,
            semaphoreGate("baton-unfair", permits = 2),
            semaphoreGate("kotlinx", permits = 2),
            mutexGate("baton"),
            mutexGate("kotlinx"),
            locks.read,
            locks.write,
        )
    }

    private suspend fun useGate(gate: Gate) {
        repeat(TURNS) {
            gate.acquire()
            yield()
            gate.release()
        }
    }

    private fun CoroutineScope.useChannels() {
        val ours = BatonChannel<Int>(1)
        val theirs = KotlinxChannel<Int>(1)
        val mutex = BatonMutex()
        launch { repeat(TURNS) { ours.send(it) } }
        launch { repeat(TURNS) { theirs.send(it) } }
        launch {
            repeat(2 * TURNS) {
                select<Unit> {
                    ours.onReceive {}
                    theirs.onReceive {}
                }
            }
        }
        launch { repeat(TURNS) { withTimeoutOrNull(TIMEOUT) { mutex.withLock { yield() } } } }
    }

    private fun CoroutineScope.useFutures() {
        val semaphore = AsyncSemaphore.create(1)
        val mutex = AsyncMutex.create()
        repeat(CALLERS) {
            launch {
                repeat(TURNS) {
                    semaphore.acquire().thenAccept { it.close() }
                    mutex.lock().thenAccept { it.close() }
                    yield()
                }
            }
        }
    }
}
