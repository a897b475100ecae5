package baton.stress

import baton.lincheck.world.ReadWriteMode
import baton.lincheck.world.ReadWriteMode.READ
import baton.lincheck.world.ReadWriteMode.UPGRADABLE
import baton.lincheck.world.ReadWriteMode.WRITE
import baton.sync.ReadWriteLock
import baton.sync.ReadWritePolicy
import baton.sync.readwrite.assertFree
import baton.sync.withRead
import baton.sync.withWrite
import java.util.concurrent.ThreadLocalRandom
import java.util.concurrent.atomic.AtomicInteger
import java.util.concurrent.atomic.AtomicLong
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
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.api.assertThrows
import org.junit.jupiter.params.ParameterizedTest
import org.junit.jupiter.params.provider.EnumSource

open class ReadWriteStressTest {
    protected open val attempts get() = 30_000
    protected open val rounds get() = 1_000

    private val watchdog = Watchdog()
    private val random get() = ThreadLocalRandom.current()

    /** Runs [block] on many threads; a coroutine that fails fails the test. */
    private fun stress(lock: ReadWriteLock, block: suspend CoroutineScope.() -> Unit) =
        watchdog.run({ "$lock" }) { runBlocking(Dispatchers.Default) { coroutineScope(block) } }

    /** The current holders, in one number, and the check that they may hold the lock together. */
    private class Ledger {
        private val inside = AtomicLong()
        val granted = AtomicInteger()

        fun enter(mode: ReadWriteMode) = move(one(mode))

        fun leave(mode: ReadWriteMode) = move(-one(mode))

        fun turn(from: ReadWriteMode, to: ReadWriteMode) = move(one(to) - one(from))

        private fun one(mode: ReadWriteMode) = 1L shl mode.ordinal * BITS

        private fun move(by: Long) {
            granted.incrementAndGet()
            val now = inside.addAndGet(by)
            val readers = now and MASK
            val writers = now shr BITS and MASK
            val upgradable = now shr 2 * BITS and MASK
            check(writers <= 1 && upgradable <= 1 && (writers == 0L || readers + upgradable == 0L)) {
                "$readers read, $upgradable upgradably, and $writers write"
            }
        }

        private companion object {
            private const val BITS = 20
            private const val MASK = (1L shl BITS) - 1
        }
    }

    private suspend fun stay() {
        if (random.nextInt(4) == 0) yield()
    }

    private suspend fun read(lock: ReadWriteLock, ledger: Ledger, owner: Any?) {
        ledger.enter(READ)
        try {
            stay()
        } finally {
            ledger.leave(READ)
            lock.unlockRead(owner)
        }
    }

    private suspend fun write(lock: ReadWriteLock, ledger: Ledger, owner: Any?) {
        try {
            if (owner != null) check(lock.writeHolder === owner)
            stay()
        } finally {
            if (random.nextInt(3) > 0) {
                ledger.leave(WRITE)
                lock.unlockWrite(owner)
            } else {
                ledger.turn(WRITE, READ)
                lock.downgrade(owner)
                ledger.leave(READ)
                lock.unlockRead(owner)
            }
        }
    }

    private suspend fun readUpgradably(lock: ReadWriteLock, ledger: Ledger, owner: Any?) {
        ledger.enter(UPGRADABLE)
        var upgraded = false
        try {
            stay()
            upgraded =
                when (random.nextInt(3)) {
                    0 -> lock.tryUpgrade(owner)
                    1 -> lock.tryUpgrade(random.nextLong(300).microseconds, owner)
                    else -> lock.upgrade(owner).let { true }
                }
        } finally {
            if (upgraded) {
                ledger.turn(UPGRADABLE, WRITE)
            } else {
                ledger.leave(UPGRADABLE)
                lock.unlockUpgradable(owner)
            }
        }
        if (upgraded) write(lock, ledger, owner)
    }

    private suspend fun use(lock: ReadWriteLock, ledger: Ledger, mode: ReadWriteMode, owner: Any?) =
        when (mode) {
            READ -> read(lock, ledger, owner)
            UPGRADABLE -> readUpgradably(lock, ledger, owner)
            else -> {
                ledger.enter(WRITE)
                write(lock, ledger, owner)
            }
        }

    private suspend fun lock(lock: ReadWriteLock, mode: ReadWriteMode, owner: Any?) =
        when (mode) {
            READ -> lock.lockRead(owner)
            WRITE -> lock.lockWrite(owner)
            else -> lock.lockUpgradable(owner)
        }

    private suspend fun tryLock(lock: ReadWriteLock, mode: ReadWriteMode, owner: Any?): Boolean {
        val patience = random.nextLong(300).microseconds
        val atOnce = random.nextBoolean()
        return when (mode) {
            READ -> if (atOnce) lock.tryLockRead(owner) else lock.tryLockRead(patience, owner)
            WRITE -> if (atOnce) lock.tryLockWrite(owner) else lock.tryLockWrite(patience, owner)
            else -> if (atOnce) lock.tryLockUpgradable(owner) else lock.tryLockUpgradable(patience, owner)
        }
    }

    private suspend fun attempt(lock: ReadWriteLock, ledger: Ledger, owner: Any?) {
        val mode = if (random.nextInt(3) == 0) READ else ReadWriteMode.entries[random.nextInt(3)]
        when (random.nextInt(5)) {
            0 -> if (tryLock(lock, mode, owner)) use(lock, ledger, mode, owner)
            1 ->
                withTimeoutOrNull(random.nextLong(1, 3).milliseconds) {
                    lock(lock, mode, owner)
                    use(lock, ledger, mode, owner)
                }
            2 -> {
                val got =
                    select {
                        lock.onWrite { WRITE }
                        lock.onRead { READ }
                        onTimeout(random.nextLong(2).milliseconds) { null }
                    }
                if (got != null) use(lock, ledger, got, null)
            }
            else -> {
                lock(lock, mode, owner)
                use(lock, ledger, mode, owner)
            }
        }
    }

    /** 200 coroutines, whose attempts are cancelled now and then. */
    private suspend fun CoroutineScope.crowd(attempt: suspend () -> Unit) {
        val left = AtomicInteger(attempts)
        val members =
            List(200) {
                launch {
                    while (left.get() > 0) {
                        val victim =
                            launch {
                                repeat(20) {
                                    left.decrementAndGet()
                                    attempt()
                                    watchdog.progress()
                                }
                            }
                        if (random.nextInt(10) < 5) {
                            repeat(random.nextInt(20)) { yield() }
                            victim.cancel()
                        }
                        victim.join()
                    }
                }
            }
        members.joinAll()
    }

    @ParameterizedTest
    @EnumSource
    fun lock_underCancellationTimeoutsAndSelects_letsInOnlyWhoMayBeThere(policy: ReadWritePolicy) {
        val lock = ReadWriteLock(policy)
        val ledger = Ledger()
        stress(lock) { crowd { attempt(lock, ledger, if (random.nextBoolean()) Any() else null) } }
        assertTrue(ledger.granted.get() > attempts / 10, "only ${ledger.granted} moves")
        assertFree(lock)
    }

    @ParameterizedTest
    @EnumSource
    fun withoutOwners_theSame(policy: ReadWritePolicy) {
        val lock = ReadWriteLock(policy)
        val ledger = Ledger()
        stress(lock) { crowd { attempt(lock, ledger, null) } }
        assertFree(lock)
    }

    /** All holders have given an owner. */
    @ParameterizedTest
    @EnumSource
    fun strangers_whoUnlockWhatOwnersHold_areRefused(policy: ReadWritePolicy) {
        val lock = ReadWriteLock(policy)
        val ledger = Ledger()
        val unlocks = listOf(lock::unlockRead, lock::unlockWrite, lock::unlockUpgradable, lock::downgrade)
        stress(lock) {
            crowd {
                if (random.nextInt(4) > 0) {
                    val owner = Any()
                    lock(lock, READ, owner)
                    use(lock, ledger, READ, owner)
                    val mode = ReadWriteMode.entries[random.nextInt(3)]
                    if (tryLock(lock, mode, owner)) use(lock, ledger, mode, owner)
                } else {
                    val stranger = if (random.nextBoolean()) Any() else null
                    assertThrows<IllegalStateException> { unlocks[random.nextInt(4)](stranger) }
                }
            }
        }
        assertFree(lock)
    }

    @ParameterizedTest
    @EnumSource
    fun cancel_racingWithTheWritersLeaving_losesNothing(policy: ReadWritePolicy) {
        val lock = ReadWriteLock(policy)
        check(lock.tryLockWrite())
        stress(lock) {
            repeat(rounds) {
                val owner = if (random.nextBoolean()) Any() else null
                val readers = List(3) { launch { lock.withRead(owner) { } } }
                val writer = launch { lock.withWrite { } }
                while (lock.waiting < 4) yield()
                val unlock = launch { lock.unlockWrite() }
                readers[random.nextInt(3)].cancel()
                if (random.nextBoolean()) writer.cancel()
                joinAll(*readers.toTypedArray(), writer, unlock)
                check(lock.tryLockWrite()) { "$lock" }
                watchdog.progress()
            }
        }
        lock.unlockWrite()
        assertFree(lock)
    }

    /** The reader that keeps the lock wakes no waiter. */
    @ParameterizedTest
    @EnumSource
    fun writerThatGivesUp_letsInTheReadersItHeldBack(policy: ReadWritePolicy) {
        val lock = ReadWriteLock(policy)
        check(lock.tryLockRead())
        stress(lock) {
            repeat(rounds) {
                val owner = if (random.nextBoolean()) Any() else null
                val writer = launch { lock.withWrite { } }
                while (lock.waiting == 0) yield()
                val readers = List(2) { launch { lock.withRead(owner) { } } }
                if (random.nextBoolean()) yield()
                writer.cancel()
                readers.joinAll()
                watchdog.progress()
            }
        }
        lock.unlockRead()
        assertFree(lock)
    }

    @ParameterizedTest
    @EnumSource
    fun cancel_racingWithAnUpgrade_leavesItUpgradable(policy: ReadWritePolicy) {
        val lock = ReadWriteLock(policy)
        stress(lock) {
            repeat(rounds) {
                check(lock.tryLockRead() && lock.tryLockUpgradable()) { "$lock" }
                // A job may be cancelled after upgrade() has returned: only the call itself shows how it ended.
                var upgraded = false
                val upgrade = launch {
                    lock.upgrade()
                    upgraded = true
                    lock.downgrade()
                }
                val reader = launch { lock.withRead { } }
                while (lock.waiting == 0) yield()
                val unlock = launch { lock.unlockRead() }
                upgrade.cancel()
                joinAll(upgrade, reader, unlock)
                if (upgraded) lock.unlockRead() else lock.unlockUpgradable()
                watchdog.progress()
            }
        }
        assertFree(lock)
    }
}

class ReadWriteStressDeepTest : ReadWriteStressTest() {
    override val attempts get() = 3_000_000
    override val rounds get() = 50_000
}
