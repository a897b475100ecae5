package baton.scheduler

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
import kotlinx.coroutines.selects.select

/** The ways to hold a lock so that its holder can be lifted, each beside a way to wait for it. */
enum class Lock {
    MUTEX {
        private val mutex = Mutex()

        override suspend fun hold(block: suspend () -> Unit) = mutex.withLock { block() }

        override suspend fun want(block: suspend () -> Unit) = mutex.withLock { block() }
    },
    MUTEX_OF_OWNERS {
        private val mutex = Mutex()

        override suspend fun hold(block: suspend () -> Unit) = mutex.withLock("holder") { block() }

        override suspend fun want(block: suspend () -> Unit) = mutex.withLock("other") { block() }
    },
    MUTEX_IN_TIME {
        private val mutex = Mutex()

        override suspend fun hold(block: suspend () -> Unit) {
            mutex.tryLock(1.hours)
            block()
            mutex.unlock()
        }

        override suspend fun want(block: suspend () -> Unit) = hold(block)
    },
    MUTEX_SELECTED {
        private val mutex = Mutex()

        override suspend fun hold(block: suspend () -> Unit) {
            select { mutex.onLock { } }
            block()
            mutex.unlock()
        }

        override suspend fun want(block: suspend () -> Unit) = hold(block)
    },
    SEMAPHORE {
        private val semaphore = Semaphore(1)

        override suspend fun hold(block: suspend () -> Unit) = semaphore.withPermit { block() }

        override suspend fun want(block: suspend () -> Unit) = hold(block)
    },
    SEMAPHORE_IN_TIME {
        private val semaphore = Semaphore(1, order = WaitOrder.PRIORITY)

        override suspend fun hold(block: suspend () -> Unit) {
            semaphore.tryAcquire(1, 1.hours)
            block()
            semaphore.release()
        }

        override suspend fun want(block: suspend () -> Unit) = hold(block)
    },
    SEMAPHORE_SELECTED {
        private val semaphore = Semaphore(1, order = WaitOrder.UNFAIR)

        override suspend fun hold(block: suspend () -> Unit) {
            select { semaphore.onAcquire(1) { } }
            block()
            semaphore.release()
        }

        override suspend fun want(block: suspend () -> Unit) = semaphore.withPermit { block() }
    },
    WRITE {
        private val lock = ReadWriteLock()

        override suspend fun hold(block: suspend () -> Unit) = lock.withWrite { block() }

        override suspend fun want(block: suspend () -> Unit) = lock.withRead { block() }
    },
    WRITE_OF_OWNERS {
        private val lock = ReadWriteLock()

        override suspend fun hold(block: suspend () -> Unit) = lock.withWrite("holder") { block() }

        override suspend fun want(block: suspend () -> Unit) = lock.withRead("other") { block() }
    },
    WRITE_SELECTED {
        private val lock = ReadWriteLock(ReadWritePolicy.WRITER_FIRST)

        override suspend fun hold(block: suspend () -> Unit) {
            select { lock.onWrite { } }
            block()
            lock.unlockWrite()
        }

        override suspend fun want(block: suspend () -> Unit) = hold(block)
    },
    READ {
        private val lock = ReadWriteLock()

        override suspend fun hold(block: suspend () -> Unit) = lock.withRead { block() }

        override suspend fun want(block: suspend () -> Unit) = lock.withWrite { block() }
    },
    READ_OF_OWNERS {
        private val lock = ReadWriteLock(ReadWritePolicy.READER_FIRST)

        override suspend fun hold(block: suspend () -> Unit) = lock.withRead("holder") { block() }

        override suspend fun want(block: suspend () -> Unit) = lock.withWrite("other") { block() }
    },
    READ_AFTER_DOWNGRADE {
        private val lock = ReadWriteLock()

        override suspend fun hold(block: suspend () -> Unit) {
            lock.lockWrite("holder")
            lock.downgrade("holder")
            block()
            lock.unlockRead("holder")
        }

        override suspend fun want(block: suspend () -> Unit) = lock.withWrite("other") { block() }
    },
    READ_UPGRADABLY {
        private val lock = ReadWriteLock()

        override suspend fun hold(block: suspend () -> Unit) {
            lock.lockUpgradable()
            block()
            lock.unlockUpgradable()
        }

        override suspend fun want(block: suspend () -> Unit) = lock.withWrite { block() }
    },
    WRITE_UPGRADED {
        private val lock = ReadWriteLock()

        override suspend fun hold(block: suspend () -> Unit) {
            lock.tryLockUpgradable()
            lock.upgrade()
            block()
            lock.unlockWrite()
        }

        override suspend fun want(block: suspend () -> Unit) {
            check(lock.tryLockWrite(1.hours))
            block()
            lock.unlockWrite()
        }
    },
    ;

    abstract suspend fun hold(block: suspend () -> Unit)

    abstract suspend fun want(block: suspend () -> Unit)
}
