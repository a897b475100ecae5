package baton.stress

import baton.channels.Channel
import baton.sync.Mutex
import baton.sync.ReadWriteLock
import baton.sync.Semaphore
import baton.sync.WaitGroup
import baton.sync.withLock
import java.util.concurrent.ConcurrentLinkedQueue
import java.util.concurrent.ThreadLocalRandom
import java.util.concurrent.atomic.AtomicInteger
import kotlin.time.Duration.Companion.microseconds
import kotlinx.coroutines.CompletableDeferred
import kotlinx.coroutines.CoroutineScope
import kotlinx.coroutines.Dispatchers
import kotlinx.coroutines.async
import kotlinx.coroutines.cancelAndJoin
import kotlinx.coroutines.coroutineScope
import kotlinx.coroutines.joinAll
import kotlinx.coroutines.launch
import kotlinx.coroutines.runBlocking
import kotlinx.coroutines.selects.SelectBuilder
import kotlinx.coroutines.selects.onTimeout
import kotlinx.coroutines.selects.select
import kotlinx.coroutines.selects.selectUnbiased
import kotlinx.coroutines.yield
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.api.Test

/** Selects of all primitives that cross, are cancelled and time out. At rest no waiter, holder or element is left. */
class SelectStressTest {
    private val watchdog = Watchdog()

    private fun stress(state: () -> String, block: suspend CoroutineScope.() -> Unit) =
        watchdog.run(state) { runBlocking(Dispatchers.Default) { coroutineScope(block) } }

    @Test
    fun selects_thatCross_oneSendsAndTheOtherReceives() {
        val a = Channel<Int>()
        val b = Channel<Int>()
        stress({ "$a $b" }) {
            repeat(20_000) { round ->
                val x = async { select { crossing(a, b, round) } }
                val y = async { select { crossing(b, a, round) } }
                assertTrue(x.await() != y.await(), "both sent, or both received: $a $b")
                assertEquals(0, a.waiting + b.waiting + a.size + b.size)
                watchdog.progress()
            }
        }
    }

    private fun SelectBuilder<Boolean>.crossing(to: Channel<Int>, from: Channel<Int>, element: Int) {
        to.onSend(element) { true }
        from.onReceive { false }
    }

    @Test
    fun receivingSelects_cancelledAgainAndAgain_leaveNoWaiterAndLoseNothing() {
        for (capacity in listOf(0, 1, 4)) {
            val channels = List(2) { Channel<Int>(capacity) }
            val got = ConcurrentLinkedQueue<Int>()
            stress({ "$channels" }) {
                val senders = channels.map { launch { repeat(ELEMENTS) { element -> it.send(element) } } }
                repeat(3) { receiver ->
                    launch {
                        while (senders.any { it.isActive }) {
                            val victim = launch { while (true) receiveOne(channels, receiver, got) }
                            repeat(ThreadLocalRandom.current().nextInt(6)) { yield() }
                            victim.cancelAndJoin()
                            watchdog.progress()
                        }
                    }
                }
            }
            for (channel in channels) while (true) got += channel.tryReceive().getOrNull() ?: break
            assertEquals(2 * ELEMENTS, got.size)
            assertEquals(0, channels.sumOf { it.waiting })
        }
    }

    private suspend fun receiveOne(channels: List<Channel<Int>>, first: Int, got: ConcurrentLinkedQueue<Int>) =
        select<Unit> { repeat(2) { channels[(first + it) % 2].onReceive { element -> got += element } } }

    @Test
    fun onLock_cancelledOrLost_ownerHoldsNothingAfterwards() {
        val mutex = Mutex()
        stress({ "$mutex" }) {
            val other =
                launch {
                    while (true) {
                        mutex.withLock("other") {}
                        yield()
                    }
                }
            repeat(5_000) { round ->
                if (round % 2 == 0) {
                    val victim = launch { while (true) select<Unit> { mutex.onLock("me") { mutex.unlock("me") } } }
                    yield()
                    victim.cancelAndJoin()
                } else {
                    val rival = CompletableDeferred<Unit>()
                    launch { rival.complete(Unit) }
                    select<Unit> {
                        mutex.onLock("me") { mutex.unlock("me") }
                        rival.onAwait {}
                    }
                }
                if (mutex.tryLock("me")) mutex.unlock("me")
                watchdog.progress()
            }
            other.cancelAndJoin()
        }
        assertEquals(0, mutex.waiting)
        assertTrue(!mutex.isLocked)
    }

    @Test
    fun selectsOfAllPrimitives_cancelledAndTimedOut_leaveNothing() {
        val mutex = Mutex()
        val semaphore = Semaphore(2)
        val lock = ReadWriteLock()
        val group = WaitGroup()
        val channel = Channel<Int>()
        val inside = AtomicInteger()
        stress({ "$mutex $semaphore $lock $group $channel" }) {
            List(4) { worker ->
                launch {
                    val owner = "worker $worker"
                    repeat(1_500) {
                        val victim =
                            launch {
                                while (true) {
                                    selectUnbiased<Unit> {
                                        mutex.onLock(owner) {
                                            assertEquals(1, inside.incrementAndGet())
                                            inside.decrementAndGet()
                                            mutex.unlock(owner)
                                        }
                                        semaphore.onAcquire(1 + worker % 2) { semaphore.release(1 + worker % 2) }
                                        lock.onRead { lock.unlockRead() }
                                        lock.onWrite { lock.unlockWrite() }
                                        channel.onReceive {}
                                        channel.onSend(worker) {}
                                        onTimeout(50.microseconds) {}
                                    }
                                    select<Unit> {
                                        group.onAwait {}
                                        channel.onSend(worker) {}
                                        onTimeout(50.microseconds) {}
                                    }
                                    group.add()
                                    mutex.withLock { yield() }
                                    group.done()
                                }
                            }
                        repeat(ThreadLocalRandom.current().nextInt(4)) { yield() }
                        victim.cancelAndJoin()
                        watchdog.progress()
                    }
                }
            }.joinAll()
        }
        assertEquals(0, mutex.waiting + semaphore.waiting + lock.waiting + group.waiting + channel.waiting)
        assertEquals(2, semaphore.availablePermits)
        assertEquals(0, lock.readers)
        assertTrue(!lock.isWriteLocked && !mutex.isLocked)
        assertEquals(0, channel.size)
    }

    private companion object {
        const val ELEMENTS = 3_000
    }
}
