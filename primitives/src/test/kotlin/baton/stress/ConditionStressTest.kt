package baton.stress

import baton.sync.Condition
import baton.sync.Mutex
import baton.sync.withLock
import java.util.concurrent.atomic.AtomicInteger
import kotlin.time.Duration.Companion.microseconds
import kotlinx.coroutines.CoroutineScope
import kotlinx.coroutines.joinAll
import kotlinx.coroutines.launch
import kotlinx.coroutines.yield
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Test

open class ConditionStressTest : Stress() {
    protected open val elements
        get() = 20_000

    protected open val rounds
        get() = 2_000

    /** A small buffer. One signal for one element, and one for one place: if a signal is lost, the test hangs. */
    private class Buffer(private val total: Int) {
        private val mutex = Mutex()
        private val notEmpty = mutex.newCondition("not empty")
        private val notFull = mutex.newCondition("not full")
        private val elements = ArrayDeque<Int>()
        private var sent = 0
        private var received = 0

        /** False when all is done. */
        suspend fun send(patience: Int): Boolean =
            mutex.withLock(Any()) {
                while (elements.size == 3 && sent < total) if (!notFull.awaitPatiently(patience)) return true
                if (sent == total) return false
                elements.addLast(sent++)
                notEmpty.signal()
                if (sent == total) notFull.signalAll()
                true
            }

        /** False when all is done. */
        suspend fun receive(patience: Int): Boolean =
            mutex.withLock(Any()) {
                while (elements.isEmpty() && received < total) if (!notEmpty.awaitPatiently(patience)) return true
                if (received == total) return false
                check(elements.removeFirst() == received++) { "out of order" }
                notFull.signal()
                if (received == total) notEmpty.signalAll()
                true
            }

        private suspend fun Condition.awaitPatiently(patience: Int): Boolean =
            if (patience < 100) await(patience.microseconds) else await().let { true }

        override fun toString() = "$notEmpty, $notFull, sent = $sent, received = $received of $total"
    }

    /** Calls until all is done, and is cancelled now and then. */
    private fun CoroutineScope.callWithVictims(call: suspend (Int) -> Boolean) = launch {
        var isDone = false
        while (!isDone) {
            val victim = launch {
                repeat(20) {
                    if (!call(random.nextInt(200))) isDone = true
                    watchdog.progress()
                }
            }
            if (random.nextInt(10) < 4) {
                repeat(random.nextInt(20)) { yield() }
                victim.cancel()
            }
            victim.join()
        }
    }

    @Test
    fun buffer_underCancellationAndTimeouts_losesNoSignalAndNoElement() {
        val buffer = Buffer(elements)
        stress(buffer) {
            repeat(20) {
                callWithVictims(buffer::send)
                callWithVictims(buffer::receive)
            }
        }
        val idle = "(waiting = 0) of Mutex (free)"
        val done = "sent = $elements, received = $elements of $elements"
        assertEquals("Condition 'not empty' $idle, Condition 'not full' $idle, $done", "$buffer")
    }

    /** The signal ends the victim's wait or its heir's, never both or none. A cancelled waiter unlocks as its owner. */
    @Test
    fun signal_racingWithCancelAndTimeout_endsOneWait() {
        val mutex = Mutex()
        val condition = mutex.newCondition()
        val signalled = AtomicInteger()
        stress(condition, signalled) {
            repeat(rounds) { round ->
                signalled.set(0)
                val victim = launch {
                    mutex.withLock("victim") {
                        val isCancelled = round % 2 == 0
                        if (isCancelled) condition.await()
                        if (isCancelled || condition.await(50.microseconds)) signalled.incrementAndGet()
                    }
                }
                while (condition.waiting == 0 && victim.isActive) yield()
                val heir = launch {
                    mutex.withLock("heir") {
                        condition.await()
                        signalled.incrementAndGet()
                    }
                }
                while ((condition.waiting < 2 && victim.isActive) || condition.waiting == 0) yield()
                val signal = launch { mutex.withLock { condition.signal() } }
                if (round % 2 == 0) victim.cancel()
                joinAll(victim, signal)
                if (signalled.get() == 0) heir.join()
                check(signalled.get() == 1) { "$signalled waits ended" }
                mutex.withLock { condition.signal() }
                heir.join()
                check("$condition" == "Condition (waiting = 0) of Mutex (free)") { "$condition" }
                watchdog.progress()
            }
        }
    }
}

class ConditionStressDeepTest : ConditionStressTest() {
    override val elements
        get() = 5_000_000

    override val rounds
        get() = 200_000
}
