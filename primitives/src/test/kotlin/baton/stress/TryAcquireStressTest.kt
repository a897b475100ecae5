package baton.stress

import baton.sync.Semaphore
import java.util.concurrent.atomic.AtomicBoolean
import java.util.concurrent.atomic.AtomicInteger
import kotlin.concurrent.thread
import kotlin.coroutines.Continuation
import kotlin.coroutines.EmptyCoroutineContext
import kotlin.coroutines.intrinsics.COROUTINE_SUSPENDED
import kotlin.coroutines.intrinsics.startCoroutineUninterceptedOrReturn
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Test

/**
 * One thread acquires the only permit while another gives it back, is refused by tryAcquire, and acquires. No order
 * explains a refusal after which that thread has the permit at once while the first one waits.
 */
class TryAcquireStressTest {
    private class Call(private val semaphore: Semaphore) {
        private val resumed = AtomicBoolean()

        fun acquire(): Boolean {
            val body: suspend () -> Unit = { semaphore.acquire() }
            val done = Continuation<Unit>(EmptyCoroutineContext) { resumed.set(true) }
            val isAtOnce = body.startCoroutineUninterceptedOrReturn(done) !== COROUTINE_SUSPENDED
            if (isAtOnce) resumed.set(true)
            return isAtOnce
        }

        val hasPermit: Boolean get() = resumed.get()
    }

    @Test
    fun tryAcquire_refusedAfterRelease_permitIsHeldOrWaitedFor() {
        // The threads spin: woken from a barrier, they would come too far apart to meet.
        val begun = AtomicInteger()
        val ended = AtomicInteger()
        lateinit var semaphore: Semaphore
        lateinit var other: Call
        var lies = 0
        val helper =
            thread {
                for (round in 1..ROUNDS) {
                    while (begun.get() < round) Thread.onSpinWait()
                    other.acquire()
                    ended.set(round)
                }
            }
        for (round in 1..ROUNDS) {
            semaphore = Semaphore(1, acquired = 1)
            other = Call(semaphore)
            begun.set(round)
            repeat(round % SPINS) { Thread.onSpinWait() }
            semaphore.release()
            val isRefused = !semaphore.tryAcquire()
            val atOnce = isRefused && Call(semaphore).acquire()
            while (ended.get() < round) Thread.onSpinWait()
            if (atOnce && !other.hasPermit) lies++
        }
        helper.join()
        assertEquals(0, lies)
    }

    private companion object {
        const val ROUNDS = 300_000
        const val SPINS = 200
    }
}
