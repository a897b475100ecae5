package baton.stress

import baton.channels.Channel
import baton.sync.Mutex
import baton.sync.ReadWriteLock
import baton.sync.Semaphore
import baton.sync.WaitGroup
import baton.sync.withLock
import java.util.concurrent.atomic.AtomicInteger
import kotlin.time.Duration.Companion.microseconds
import kotlinx.coroutines.async
import kotlinx.coroutines.cancelAndJoin
import kotlinx.coroutines.joinAll
import kotlinx.coroutines.launch
import kotlinx.coroutines.selects.SelectBuilder
import kotlinx.coroutines.selects.onTimeout
import kotlinx.coroutines.selects.select
import kotlinx.coroutines.selects.selectUnbiased
import kotlinx.coroutines.yield
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.api.Test

/** Selects of all primitives that cross, are cancelled and time out. At rest no waiter, holder or element is left. */
class SelectStressTest : Stress() {

    @Test
    fun selects_thatCross_oneSendsAndTheOtherReceives() {
        val a = Channel<Int>()
        val b = Channel<Int>()
        stress(a, b) {
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
    fun selectsOfAllPrimitives_cancelledAndTimedOut_leaveNothing() {
        val mutex = Mutex()
        val semaphore = Semaphore(2)
        val lock = ReadWriteLock()
        val group = WaitGroup()
        val channel = Channel<Int>()
        val inside = AtomicInteger()
        stress(mutex, semaphore, lock, group, channel) {
            List(4) { worker ->
                    launch {
                        val owner = "worker $worker"
                        repeat(1_500) {
                            val victim = launch {
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
                            repeat(random.nextInt(4)) { yield() }
                            victim.cancelAndJoin()
                            watchdog.progress()
                        }
                    }
                }
                .joinAll()
        }
        assertEquals(0, mutex.waiting + semaphore.waiting + lock.waiting + group.waiting + channel.waiting)
        assertEquals(2, semaphore.availablePermits)
        assertEquals(0, lock.readers)
        assertTrue(!lock.isWriteLocked && !mutex.isLocked)
        assertEquals(0, channel.size)
    }
}
