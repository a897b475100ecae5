package baton.stress

import baton.sync.Mutex
import baton.sync.withLock
import java.util.concurrent.ThreadLocalRandom
import java.util.concurrent.atomic.AtomicInteger
import kotlin.time.Duration.Companion.microseconds
import kotlin.time.Duration.Companion.milliseconds
import kotlinx.coroutines.CoroutineScope
import kotlinx.coroutines.Dispatchers
import kotlinx.coroutines.coroutineScope
import kotlinx.coroutines.joinAll
import kotlinx.coroutines.launch
import kotlinx.coroutines.runBlocking
import kotlinx.coroutines.selects.onTimeout
import kotlinx.coroutines.selects.select
import kotlinx.coroutines.withTimeoutOrNull
import kotlinx.coroutines.yield
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.api.Test

open class MutexStressTest {
    protected open val attempts get() = 200_000
    protected open val rounds get() = 10_000

    private val watchdog = Watchdog()
    private val random get() = ThreadLocalRandom.current()

    private fun stress(mutex: Mutex, block: suspend CoroutineScope.() -> Unit) =
        watchdog.run({ "$mutex" }) { runBlocking(Dispatchers.Default) { coroutineScope(block) } }

    /** Guarded by the mutex and by nothing else. */
    private var inside = 0
    private var granted = 0

    private suspend fun use(mutex: Mutex, owner: Any?) {
        try {
            check(inside++ == 0) { "two at a time" }
            granted++
            if (owner != null) check(mutex.holder === owner)
            if (random.nextInt(4) == 0) yield()
        } finally {
            inside--
            mutex.unlock(owner)
        }
    }

    private suspend fun attempt(mutex: Mutex) {
        val owner = if (random.nextBoolean()) Any() else null
        when (random.nextInt(5)) {
            0 -> if (mutex.tryLock(owner)) use(mutex, owner)
            1 -> if (mutex.tryLock(random.nextLong(300).microseconds, owner)) use(mutex, owner)
            2 ->
                withTimeoutOrNull(random.nextLong(1, 3).milliseconds) {
                    mutex.lock(owner)
                    use(mutex, owner)
                }
            3 -> {
                val got =
                    select {
                        mutex.onLock(owner) { true }
                        onTimeout(random.nextLong(2).milliseconds) { false }
                    }
                if (got) use(mutex, owner)
            }
            else -> {
                mutex.lock(owner)
                use(mutex, owner)
            }
        }
    }

    @Test
    fun mutex_underCancellationTimeoutsAndSelects_letsInOneAtATime() {
        val mutex = Mutex()
        val left = AtomicInteger(attempts)
        stress(mutex) {
            repeat(200) {
                launch {
                    while (left.get() > 0) {
                        val victim =
                            launch {
                                repeat(20) {
                                    left.decrementAndGet()
                                    attempt(mutex)
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
            }
        }
        assertTrue(granted > attempts / 20, "only $granted grants")
        assertEquals(0, mutex.waiting)
        assertEquals(false, mutex.isLocked)
    }

    @Test
    fun cancel_racingWithUnlock_losesNoLock() {
        val mutex = Mutex(locked = true)
        stress(mutex) {
            repeat(rounds) {
                val waiter = launch { mutex.withLock { } }
                while (mutex.waiting == 0) yield()
                val unlock = launch { mutex.unlock() }
                waiter.cancel()
                joinAll(waiter, unlock)
                check(mutex.tryLock()) { "$mutex" }
                watchdog.progress()
            }
        }
    }
}

class MutexStressDeepTest : MutexStressTest() {
    override val attempts get() = 10_000_000
    override val rounds get() = 100_000
}
