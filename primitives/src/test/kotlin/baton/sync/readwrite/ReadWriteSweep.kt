package baton.sync.readwrite

import baton.lincheck.world.ReadWriteMode
import baton.lincheck.world.ReadWriteMode.READ
import baton.lincheck.world.ReadWriteMode.UPGRADABLE
import baton.lincheck.world.ReadWriteMode.WRITE
import baton.sync.CancelSweepTest.Op
import baton.sync.ReadWriteLock
import baton.sync.ReadWritePolicy
import baton.sync.withRead
import baton.sync.withWrite
import kotlin.coroutines.cancellation.CancellationException
import kotlin.time.Duration.Companion.seconds
import kotlinx.coroutines.selects.onTimeout
import kotlinx.coroutines.selects.select
import kotlinx.coroutines.yield
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertFalse
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.api.assertThrows

/** A lock, and how it is held without an owner. */
internal class HeldReadWriteLock(policy: ReadWritePolicy) {
    val lock = ReadWriteLock(policy)
    private val holds = ArrayDeque<ReadWriteMode>()

    fun hold(mode: ReadWriteMode): Int {
        holds += mode
        return 1
    }

    fun start(mode: ReadWriteMode) {
        when (mode) {
            READ -> check(lock.tryLockRead())
            WRITE -> check(lock.tryLockWrite())
            else -> check(lock.tryLockUpgradable())
        }
        hold(mode)
    }

    fun unlock() {
        when (holds.removeFirst()) {
            READ -> lock.unlockRead()
            WRITE -> lock.unlockWrite()
            else -> lock.unlockUpgradable()
        }
    }

    override fun toString() = "$lock"
}

/** Each operation returns how often it holds the lock then. */
internal val readWriteOps =
    listOf<Op<HeldReadWriteLock>>(
        Op("lockRead") {
            it.lock.lockRead()
            it.hold(READ)
        },
        Op("lockRead, unlockRead") {
            it.lock.lockRead()
            it.lock.unlockRead()
            0
        },
        Op("lockRead(owner), unlockRead(owner)") {
            Any().let { o ->
                it.lock.lockRead(o)
                it.lock.unlockRead(o)
            }
            0
        },
        Op("tryLockRead(1s)") { if (it.lock.tryLockRead(1.seconds)) it.hold(READ) else 0 },
        Op("withRead(owner)") {
            it.lock.withRead(Any()) { yield() }
            0
        },
        Op("lockWrite") {
            it.lock.lockWrite()
            it.hold(WRITE)
        },
        Op("lockWrite(owner), unlockWrite(owner)") {
            Any().let { o ->
                it.lock.lockWrite(o)
                it.lock.unlockWrite(o)
            }
            0
        },
        Op("tryLockWrite") { if (it.lock.tryLockWrite()) it.hold(WRITE) else 0 },
        Op("tryLockWrite(1s)") { if (it.lock.tryLockWrite(1.seconds)) it.hold(WRITE) else 0 },
        Op("withWrite") {
            it.lock.withWrite { yield() }
            0
        },
        Op("lockWrite, downgrade") {
            it.lock.lockWrite()
            it.lock.downgrade()
            it.hold(READ)
        },
        Op("lockUpgradable") {
            it.lock.lockUpgradable()
            it.hold(UPGRADABLE)
        },
        Op("tryLockUpgradable(1s)") { if (it.lock.tryLockUpgradable(1.seconds)) it.hold(UPGRADABLE) else 0 },
        Op("upgrade") {
            it.lock.upgraded(null) { upgrade() }
            it.hold(WRITE)
        },
        Op("upgrade(owner), downgrade(owner)") {
            val owner = Any()
            it.lock.upgraded(owner) { upgrade(owner) }
            it.lock.downgrade(owner)
            it.lock.unlockRead(owner)
            0
        },
        Op("tryUpgrade(1s)") {
            var done = false
            it.lock.upgraded(null) { done = tryUpgrade(1.seconds) }
            it.hold(if (done) WRITE else UPGRADABLE)
        },
        Op("select read") { l -> select { l.lock.onRead { l.hold(READ) } } },
        Op("select write or timeout") { l ->
            select {
                l.lock.onWrite { l.hold(WRITE) }
                onTimeout(1.seconds) { 0 }
            }
        },
        Op("select write or read") { l ->
            select {
                l.lock.onWrite { l.hold(WRITE) }
                l.lock.onRead { l.hold(READ) }
            }
        },
    )

/** A caller that is cancelled while it upgrades still reads upgradably. */
private suspend inline fun ReadWriteLock.upgraded(owner: Any?, action: ReadWriteLock.() -> Unit) {
    lockUpgradable(owner)
    try {
        action()
    } catch (e: CancellationException) {
        unlockUpgradable(owner)
        throw e
    }
}

/** Free, with its fast paths open, and usable. */
internal fun assertFree(lock: ReadWriteLock) {
    val owner = Any()
    assertEquals(0, lock.core.word) { "$lock" }
    assertEquals(0, lock.readers)
    assertEquals(0, lock.waiting)
    assertFalse(lock.isWriteLocked)
    assertEquals(emptyList<Any>(), lock.readHolders)
    for (unlock in listOf(lock::unlockRead, lock::unlockWrite, lock::unlockUpgradable, lock::downgrade)) {
        assertThrows<IllegalStateException> { unlock(null) }
        assertEquals(0, lock.core.word) { "$lock" }
    }
    assertTrue(lock.tryLockUpgradable())
    assertTrue(lock.tryUpgrade())
    lock.downgrade()
    lock.unlockRead()
    assertTrue(lock.tryLockRead() && lock.tryLockRead(owner))
    lock.unlockRead()
    assertThrows<IllegalStateException> { lock.unlockRead() }
    lock.unlockRead(owner)
    assertTrue(lock.tryLockWrite(owner))
    lock.unlockWrite(owner)
    assertEquals(0, lock.core.word) { "$lock" }
}
