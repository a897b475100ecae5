package baton.sync.readwrite.contract

import baton.sync.ReadWritePolicy
import baton.waiting.contract.WaiterContract
import baton.waiting.contract.WaiterFixture
import baton.waiting.contract.WaitingKind
import baton.waiting.contract.WaitingPlace
import kotlin.time.Duration
import kotlinx.coroutines.test.runTest
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertTrue

/** The common part of the topics of the read-write lock's contract. */
interface ReadWriteFixture : WaiterFixture {
    val factory: ReadWriteLockFactory

    override val waitingKinds: List<WaitingKind>
        get() =
            ReadWritePolicy.entries.flatMap { policy ->
                Access.entries.flatMap { access -> listOf(null, "t1").map { waitingKind(policy, access, it) } }
            }

    private fun waitingKind(policy: ReadWritePolicy, access: Access, owner: Any?) =
        WaitingKind("$policy: $access, owner $owner", grantsAll = access == Access.READ) {
            ReadWritePlace(lock(policy), access, owner)
        }

    fun lock(policy: ReadWritePolicy = ReadWritePolicy.PHASE_FAIR, name: String? = null): ReadWriteLockFace =
        factory(policy, name)

    /** Runs [test] without owners, and with an owner for each caller. */
    fun scene(policy: ReadWritePolicy, test: suspend ReadWriteScene.() -> Unit) {
        for (isOwned in listOf(false, true)) runTest { ReadWriteScene(this, lock(policy), isOwned).test() }
    }

    fun eachPolicy(test: suspend ReadWriteScene.(ReadWritePolicy) -> Unit) {
        for (policy in ReadWritePolicy.entries) scene(policy) { test(policy) }
    }

    fun assertState(lock: ReadWriteLockFace, readers: Int = 0, written: Boolean = false, waiting: Int = 0) {
        val state = "readers = ${lock.readers}, written = ${lock.isWriteLocked}, waiting = ${lock.waiting}"
        assertEquals("readers = $readers, written = $written, waiting = $waiting", state)
    }
}

/** The lock has no holder and no waiter, and can be acquired in every mode. */
fun assertFree(lock: ReadWriteLockFace) {
    val state = lock.run { "$readers $isWriteLocked $writeHolder $readHolders $waiting" }
    assertEquals("0 false null [] 0", state)
    assertTrue(lock.tryLockWrite())
    lock.unlockWrite()
    assertTrue(lock.tryLockUpgradable() && lock.tryLockRead())
    lock.unlockRead()
    lock.unlockUpgradable()
    assertEquals(state, lock.run { "$readers $isWriteLocked $writeHolder $readHolders $waiting" })
}

/** Written without an owner at first. With an [owner], readers share it; each writer is an owner of its own. */
internal class ReadWritePlace(
    private val lock: ReadWriteLockFace,
    private val access: Access,
    private val owner: Any?,
) : WaitingPlace {
    private var isGranted = false

    init {
        check(lock.tryLockWrite())
    }

    private fun owner() = if (owner == null || access == Access.READ) owner else Any()

    override val waiting: Int
        get() = lock.waiting

    override suspend fun waitHere() = access.lock(lock, owner())

    override suspend fun waitHere(timeout: Duration) = access.tryLock(lock, timeout, owner())

    override fun grant() {
        if (lock.isWriteLocked) lock.unlockWrite(lock.writeHolder)
        else access.unlock(lock, lock.readHolders.singleOrNull())
        isGranted = true
    }

    override fun assertIdle(holders: Int) {
        val isWritten = !isGranted || (access == Access.WRITE && holders > 0)
        val state = lock.run { "$readers, $isWriteLocked, $waiting" }
        assertEquals("${if (isWritten) 0 else holders}, $isWritten, 0", state)
        repeat(if (isGranted) holders else 1) { grant() }
        assertFree(lock)
    }
}

/** The modes in which a caller may lock it. */
enum class Access {
    READ {
        override suspend fun lock(lock: ReadWriteLockFace, owner: Any?) = lock.lockRead(owner)

        override suspend fun tryLock(lock: ReadWriteLockFace, timeout: Duration, owner: Any?) =
            lock.tryLockRead(timeout, owner)

        override fun tryLock(lock: ReadWriteLockFace, owner: Any?) = lock.tryLockRead(owner)

        override fun unlock(lock: ReadWriteLockFace, owner: Any?) = lock.unlockRead(owner)
    },
    WRITE {
        override suspend fun lock(lock: ReadWriteLockFace, owner: Any?) = lock.lockWrite(owner)

        override suspend fun tryLock(lock: ReadWriteLockFace, timeout: Duration, owner: Any?) =
            lock.tryLockWrite(timeout, owner)

        override fun tryLock(lock: ReadWriteLockFace, owner: Any?) = lock.tryLockWrite(owner)

        override fun unlock(lock: ReadWriteLockFace, owner: Any?) = lock.unlockWrite(owner)
    },
    UPGRADABLE {
        override suspend fun lock(lock: ReadWriteLockFace, owner: Any?) = lock.lockUpgradable(owner)

        override suspend fun tryLock(lock: ReadWriteLockFace, timeout: Duration, owner: Any?) =
            lock.tryLockUpgradable(timeout, owner)

        override fun tryLock(lock: ReadWriteLockFace, owner: Any?) = lock.tryLockUpgradable(owner)

        override fun unlock(lock: ReadWriteLockFace, owner: Any?) = lock.unlockUpgradable(owner)
    };

    /** How many readers it counts as. */
    val readers: Int
        get() = if (this == WRITE) 0 else 1

    abstract suspend fun lock(lock: ReadWriteLockFace, owner: Any? = null)

    abstract suspend fun tryLock(lock: ReadWriteLockFace, timeout: Duration, owner: Any? = null): Boolean

    abstract fun tryLock(lock: ReadWriteLockFace, owner: Any? = null): Boolean

    abstract fun unlock(lock: ReadWriteLockFace, owner: Any? = null)
}

/**
 * The contract of a read-write lock for every kind of caller: a suspend function, a `select`, a future, or all in one
 * queue. It consists of topics: an API that cannot do one of them (say [ReadWriteOwners]) implements the others.
 */
abstract class ReadWriteContract(override val factory: ReadWriteLockFactory) :
    WaiterContract, ReadWriteOrder, ReadWriteUpgrading, ReadWriteCancellation, ReadWriteOwners, ReadWriteMisuse
