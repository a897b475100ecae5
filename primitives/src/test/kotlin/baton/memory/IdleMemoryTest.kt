package baton.memory

import baton.channels.Channel
import baton.resilience.CircuitBreaker
import baton.resilience.RateLimiter
import baton.resilience.per
import baton.sync.Barrier
import baton.sync.Latch
import baton.sync.Mutex
import baton.sync.ReadWriteLock
import baton.sync.Semaphore
import baton.sync.WaitGroup
import kotlin.time.Duration.Companion.seconds
import org.junit.jupiter.params.ParameterizedTest
import org.junit.jupiter.params.provider.EnumSource

/** The bytes of a primitive that no caller waits at: a cache may have one for each of its keys. */
class IdleMemoryTest {
    enum class Kind(val mostBytes: Long, val create: () -> Any) {
        MUTEX(112, { Mutex().also { check(it.tryLock()) } }),
        SEMAPHORE(160, { Semaphore(2).also { check(it.tryAcquire()) } }),
        READ_WRITE_LOCK(168, { ReadWriteLock().also { check(it.tryLockRead()) } }),
        CHANNEL(288, { Channel<Int>(2) }),
        BARRIER(168, { Barrier(2) }),
        LATCH(88, { Latch(2) }),
        WAIT_GROUP(88, { WaitGroup() }),
        RATE_LIMITER(536, { RateLimiter.tokenBucket(RATE) }),
        CIRCUIT_BREAKER(480, { CircuitBreaker() }),
    }

    @ParameterizedTest
    @EnumSource
    fun idle_takesFewBytes(kind: Kind) {
        assertAllocates(kind.mostBytes, kind.create)
    }

    private companion object {
        val RATE = 10 per 1.seconds
    }
}
