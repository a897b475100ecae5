package baton.stress

import baton.TooManyKeysException
import baton.resilience.Rate
import baton.resilience.RateLimiters
import baton.sync.Mutexes
import baton.sync.Semaphores
import java.util.concurrent.atomic.AtomicInteger
import kotlin.time.Duration.Companion.milliseconds
import kotlin.time.Duration.Companion.nanoseconds
import kotlinx.coroutines.joinAll
import kotlinx.coroutines.runBlocking
import kotlinx.coroutines.yield
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.api.Test

/** Few keys that come and go on all threads, with cancellations. */
class KeysStressTest : Stress() {
    private val inside = List(KEYS) { AtomicInteger() }
    private val done = AtomicInteger()
    private val faults = AtomicInteger()

    private suspend fun enter(key: Int, most: Int, n: Int = 1) {
        if (inside[key].addAndGet(n) > most) faults.incrementAndGet()
        try {
            yieldSometimes()
            done.incrementAndGet()
        } finally {
            inside[key].addAndGet(-n)
        }
    }

    @Test
    fun mutexes_excludeByKey_andAreAllForgotten() {
        val locks = Mutexes<Int>(maxKeys = KEYS - 1)
        stress(locks) {
            crowd(CROWD, { done.get() < CALLS }, 5.milliseconds) {
                    val key = random.nextInt(KEYS)
                    try {
                        when (random.nextInt(4)) {
                            0 -> locks.withLock(key, soon()) { enter(key, most = 1) }
                            1 -> {
                                val other = random.nextInt(KEYS)
                                locks.withLocks(key, other) {
                                    enter(key, most = 1)
                                    enter(other, most = 1)
                                }
                            }
                            else -> locks.withLock(key) { enter(it, most = 1) }
                        }
                    } catch (_: TooManyKeysException) {
                        yield()
                    } catch (_: baton.PermitTimeoutException) {}
                }
                .joinAll()
        }
        assertEquals(0, faults.get())
        assertEquals(0, locks.size)
        runBlocking { locks.withLocks(List(KEYS - 1) { it }) {} }
    }

    @Test
    fun semaphores_boundByKey_andAreAllForgotten() {
        val permits = Semaphores<Int>(permits = 3, maxKeys = KEYS - 1)
        stress(permits) {
            crowd(CROWD, { done.get() < CALLS }, 5.milliseconds) {
                    val key = random.nextInt(KEYS)
                    val n = 1 + random.nextInt(3)
                    try {
                        if (chance(3)) permits.withPermit(key, soon()) { enter(it, most = 3) }
                        else permits.withPermits(key, n) { enter(it, most = 3, n) }
                    } catch (_: TooManyKeysException) {
                        yield()
                    } catch (_: baton.PermitTimeoutException) {}
                }
                .joinAll()
        }
        assertEquals(0, faults.get())
        assertEquals(0, permits.size)
    }

    /** A bucket fills in a microsecond, so that keys are forgotten all the time. */
    @Test
    fun limiters_neverGrantMoreThanTheBound_whileKeysComeAndGo() {
        val perKey = RateLimiters<Int>(Rate(1, PERIOD), burst = 1, maxKeys = KEYS - 1)
        val start = System.nanoTime()
        val taken = List(KEYS) { AtomicInteger() }
        stress(perKey) {
            crowd(CROWD, { done.get() < CALLS }, 5.milliseconds) {
                    val key = random.nextInt(KEYS)
                    done.incrementAndGet()
                    try {
                        if (chance(5)) {
                            if (perKey.tryAcquire(key)) taken[key].incrementAndGet()
                        } else {
                            // Counted also if it is cancelled at its grant: the permit goes back then.
                            perKey.withPermit(key) { taken[it].incrementAndGet() }
                        }
                    } catch (_: TooManyKeysException) {
                        yield()
                    }
                }
                .joinAll()
        }
        val most = 1 + (System.nanoTime() - start) / PERIOD.inWholeNanoseconds
        for (count in taken) assertTrue(count.get() <= most) { "${count.get()} of $most" }
        assertTrue(perKey.size < KEYS)
    }

    private companion object {
        const val KEYS = 5
        const val CROWD = 12
        const val CALLS = 40_000
        val PERIOD = 20_000.nanoseconds
    }
}
