package baton.memory

import baton.channels.Channel
import baton.sync.Mutex
import baton.sync.ReadWriteLock
import baton.sync.Semaphore
import com.sun.management.ThreadMXBean
import java.lang.management.ManagementFactory
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.params.ParameterizedTest
import org.junit.jupiter.params.provider.EnumSource

/** The bytes of a primitive that no caller waits at: a cache may have one for each of its keys. */
class IdleMemoryTest {
    enum class Kind(val mostBytes: Long, val create: () -> Any) {
        MUTEX(112, { Mutex().also { check(it.tryLock()) } }),
        SEMAPHORE(344, { Semaphore(2).also { check(it.tryAcquire()) } }),
        READ_WRITE_LOCK(280, { ReadWriteLock().also { check(it.tryLockRead()) } }),
        CHANNEL(288, { Channel<Int>(2) }),
    }

    private val threads = ManagementFactory.getThreadMXBean() as ThreadMXBean

    @ParameterizedTest
    @EnumSource
    fun idle_takesFewBytes(kind: Kind) {
        bytesOf(kind)
        val bytes = bytesOf(kind)
        // Objects take multiples of 8 bytes. A part of 8 is the JVM's own.
        assertTrue(bytes < (kind.mostBytes + 8) * COUNT) { "${bytes.toDouble() / COUNT} bytes each" }
    }

    private fun bytesOf(kind: Kind): Long {
        val all = arrayOfNulls<Any>(COUNT)
        val before = threads.currentThreadAllocatedBytes
        for (i in all.indices) all[i] = kind.create()
        return threads.currentThreadAllocatedBytes - before
    }

    private companion object {
        const val COUNT = 10_000
    }
}
