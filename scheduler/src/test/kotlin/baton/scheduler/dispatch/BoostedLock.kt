package baton.scheduler.dispatch

import baton.sync.Mutex
import baton.sync.ReadWriteLock
import baton.sync.ReadWritePolicy
import baton.sync.Semaphore
import baton.sync.WaitOrder
import baton.sync.withLock
import baton.sync.withPermit
import baton.sync.withRead
import baton.sync.withWrite
import kotlin.time.Duration.Companion.hours
import kotlinx.coroutines.CancellationException
import kotlinx.coroutines.selects.select

internal typealias Held = suspend (suspend () -> Unit) -> Unit

/**
 * A lock that boosts its holders. [hold] acquires it as a holder, and [want] as a waiter of a holder.
 *
 * @property holdersShare whether several coroutines may be inside [hold] at a time.
 * @property wantersShare whether several coroutines may be inside [want] at a time.
 */
internal class BoostedLock(
    val hold: Held,
    val want: Held = hold,
    val holdersShare: Boolean = false,
    val wantersShare: Boolean = false,
)

/** Ways to hold a lock of which the lock knows its holder. */
internal enum class Kind(val make: () -> BoostedLock) {
    MUTEX({
        val mutex = Mutex()
        BoostedLock({ mutex.withLock { it() } })
    }),
    MUTEX_OF_OWNERS({
        val mutex = Mutex()
        BoostedLock({ mutex.withLock(Any()) { it() } })
    }),
    MUTEX_IN_TIME({
        val mutex = Mutex()
        BoostedLock({ held({ mutex.tryLock(1.hours) }, it) { mutex.unlock() } })
    }),
    MUTEX_SELECTED({
        val mutex = Mutex()
        BoostedLock({ held({ select { mutex.onLock { true } } }, it) { mutex.unlock() } })
    }),
    SEMAPHORE({
        val semaphore = Semaphore(1)
        BoostedLock({ semaphore.withPermit { it() } })
    }),
    SEMAPHORE_IN_TIME({
        val semaphore = Semaphore(1, order = WaitOrder.PRIORITY)
        BoostedLock({ held({ semaphore.tryAcquire(1, 1.hours) }, it) { semaphore.release() } })
    }),
    SEMAPHORE_SELECTED({
        val semaphore = Semaphore(1, order = WaitOrder.UNFAIR)
        BoostedLock(
            hold = { held({ select { semaphore.onAcquire(1) { true } } }, it) { semaphore.release() } },
            want = { semaphore.withPermit { it() } },
        )
    }),
    WRITE({
        val lock = ReadWriteLock()
        BoostedLock({ lock.withWrite { it() } }, { lock.withRead { it() } }, wantersShare = true)
    }),
    WRITE_OF_OWNERS({
        val lock = ReadWriteLock()
        BoostedLock({ lock.withWrite(Any()) { it() } }, { lock.withRead(Any()) { it() } }, wantersShare = true)
    }),
    WRITE_SELECTED({
        val lock = ReadWriteLock(ReadWritePolicy.WRITER_FIRST)
        BoostedLock({ held({ select { lock.onWrite { true } } }, it) { lock.unlockWrite() } })
    }),
    READ({
        val lock = ReadWriteLock()
        BoostedLock({ lock.withRead { it() } }, { lock.withWrite { it() } }, holdersShare = true)
    }),
    READ_OF_OWNERS({
        val lock = ReadWriteLock(ReadWritePolicy.READER_FIRST)
        BoostedLock({ lock.withRead(Any()) { it() } }, { lock.withWrite(Any()) { it() } }, holdersShare = true)
    }),
    READ_OF_OWNERS_IN_TIME({
        val lock = ReadWriteLock()
        BoostedLock(
            hold = {
                val owner = Any()
                held({ lock.tryLockRead(1.hours, owner) }, it) { lock.unlockRead(owner) }
            },
            want = { held({ lock.tryLockWrite(1.hours) }, it) { lock.unlockWrite() } },
            holdersShare = true,
        )
    }),
    READ_AFTER_DOWNGRADE({
        val lock = ReadWriteLock()
        BoostedLock(
            hold = {
                val owner = Any()
                lock.lockWrite(owner)
                held({ true.also { lock.downgrade(owner) } }, it) { lock.unlockRead(owner) }
            },
            want = { lock.withWrite { it() } },
        )
    }),
    READ_UPGRADABLY({
        val lock = ReadWriteLock()
        BoostedLock(
            hold = { held({ true.also { lock.lockUpgradable() } }, it) { lock.unlockUpgradable() } },
            want = { lock.withWrite { it() } },
        )
    }),
    WRITE_UPGRADED({
        val lock = ReadWriteLock()
        BoostedLock(
            hold = {
                if (!lock.tryLockUpgradable()) lock.lockUpgradable()
                try {
                    lock.upgrade()
                } catch (e: CancellationException) {
                    lock.unlockUpgradable()
                    throw e
                }
                held({ true }, it) { lock.unlockWrite() }
            },
            want = { held({ lock.tryLockUpgradable(1.hours) }, it) { lock.unlockUpgradable() } },
        )
    }),
}

private suspend inline fun held(lock: () -> Boolean, block: suspend () -> Unit, unlock: () -> Unit) {
    check(lock())
    try {
        block()
    } finally {
        unlock()
    }
}
