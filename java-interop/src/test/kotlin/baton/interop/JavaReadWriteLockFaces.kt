package baton.interop

import baton.sync.ReadWriteLock
import baton.sync.ReadWritePolicy
import baton.sync.readwrite.contract.KotlinReadWriteLockFace
import baton.sync.readwrite.contract.ReadWriteLockFace
import baton.sync.readwrite.contract.SelectReadWriteLockFace
import java.time.Duration as JavaDuration
import java.util.Optional
import java.util.concurrent.CompletableFuture
import java.util.concurrent.TimeoutException
import kotlin.time.Duration
import kotlin.time.toJavaDuration
import kotlinx.coroutines.CancellationException
import kotlinx.coroutines.future.await

/**
 * The Java API as the contract uses it. The permits that it has locked are in one of three lists, by owner. An unlock
 * or upgrade without such a permit goes to the lock itself, which performs or refuses it.
 *
 * @param patience how long a `lock` waits; null for one without a timeout.
 */
class JavaReadWriteLockFace(private val lock: AsyncReadWriteLock, private val patience: Duration? = null) :
    ReadWriteLockFace {
    constructor(
        policy: ReadWritePolicy,
        name: String?,
        patience: Duration? = null,
    ) : this(AsyncReadWriteLock.create(policy, name), patience)

    private val reading = Held<Any?, Permit>()
    private val writing = Held<Any?, WritePermit>()
    private val upgradable = Held<Any?, UpgradablePermit>()

    override val readers: Int
        get() = lock.readers()

    override val isWriteLocked: Boolean
        get() = lock.isWriteLocked

    override val writeHolder: Any?
        get() = lock.writeHolder().orElse(null)

    override val readHolders: List<Any>
        get() = lock.readHolders()

    override val waiting: Int
        get() = lock.waiting()

    // To read.

    private fun readRequest(owner: Any?, time: JavaDuration?): CompletableFuture<Permit> =
        lock.ownedByOrNull(owner).run { if (time == null) lockRead() else lockRead(time) }

    override suspend fun lockRead(owner: Any?) =
        reading.add(owner, readRequest(owner, patience?.toJavaDuration()).awaitPermit())

    override fun tryLockRead(owner: Any?) = reading.addIf(owner, lock.ownedByOrNull(owner).tryLockRead())

    override suspend fun tryLockRead(timeout: Duration, owner: Any?) = inTime {
        reading.add(owner, readRequest(owner, timeout.toJavaDuration()).awaitPermit())
    }

    override fun unlockRead(owner: Any?) {
        if (!reading.close { it === owner }) lock.kotlin().unlockRead(owner)
    }

    // To write.

    private fun writeRequest(owner: Any?, time: JavaDuration?): CompletableFuture<WritePermit> =
        lock.ownedByOrNull(owner).run { if (time == null) lockWrite() else lockWrite(time) }

    override suspend fun lockWrite(owner: Any?) =
        writing.add(owner, writeRequest(owner, patience?.toJavaDuration()).awaitPermit())

    override fun tryLockWrite(owner: Any?) = writing.addIf(owner, lock.ownedByOrNull(owner).tryLockWrite())

    override suspend fun tryLockWrite(timeout: Duration, owner: Any?) = inTime {
        writing.add(owner, writeRequest(owner, timeout.toJavaDuration()).awaitPermit())
    }

    override fun unlockWrite(owner: Any?) {
        if (!writing.close { it === owner }) lock.kotlin().unlockWrite(owner)
    }

    override fun downgrade(owner: Any?) {
        val permit = writing.take { it === owner } ?: return lock.kotlin().downgrade(owner)
        permit.downgrade()
        reading.add(owner, permit)
    }

    // To read upgradably.

    private fun upgradableRequest(owner: Any?, time: JavaDuration?): CompletableFuture<UpgradablePermit> =
        lock.ownedByOrNull(owner).run { if (time == null) lockUpgradable() else lockUpgradable(time) }

    override suspend fun lockUpgradable(owner: Any?) =
        upgradable.add(owner, upgradableRequest(owner, patience?.toJavaDuration()).awaitPermit())

    override fun tryLockUpgradable(owner: Any?) = upgradable.addIf(owner, lock.ownedByOrNull(owner).tryLockUpgradable())

    override suspend fun tryLockUpgradable(timeout: Duration, owner: Any?) = inTime {
        upgradable.add(owner, upgradableRequest(owner, timeout.toJavaDuration()).awaitPermit())
    }

    override fun unlockUpgradable(owner: Any?) {
        if (!upgradable.close { it === owner }) lock.kotlin().unlockUpgradable(owner)
    }

    override suspend fun upgrade(owner: Any?) {
        val permit = upgradable.take { it === owner } ?: return lock.kotlin().upgrade(owner)
        await(if (patience == null) permit.upgrade() else permit.upgrade(patience.toJavaDuration()), permit, owner)
    }

    /** A coroutine cancelled after the grant of the upgrade has a write permit: the grant stays in the future. */
    private suspend fun await(upgrade: CompletableFuture<WritePermit>, permit: UpgradablePermit, owner: Any?) {
        try {
            writing.add(owner, upgrade.await())
        } catch (e: CancellationException) {
            if (upgrade.isCompletedExceptionally) upgradable.add(owner, permit) else writing.add(owner, upgrade.join())
            throw e
        } catch (e: Exception) {
            upgradable.add(owner, permit)
            throw e
        }
    }

    override fun tryUpgrade(owner: Any?): Boolean {
        val permit = upgradable.take { it === owner } ?: return lock.kotlin().tryUpgrade(owner)
        var upgraded = false
        try {
            upgraded = writing.addIf(owner, permit.tryUpgrade())
        } finally {
            if (!upgraded) upgradable.add(owner, permit)
        }
        return upgraded
    }

    override suspend fun tryUpgrade(timeout: Duration, owner: Any?): Boolean {
        val permit = upgradable.take { it === owner } ?: return lock.kotlin().tryUpgrade(timeout, owner)
        return inTime { await(permit.upgrade(timeout.toJavaDuration()), permit, owner) }
    }

    /** The timeout runs in real time. */
    private suspend fun inTime(action: suspend () -> Unit): Boolean =
        try {
            action()
            true
        } catch (_: TimeoutException) {
            false
        }

    private fun <P : Permit> Held<Any?, P>.addIf(owner: Any?, permit: Optional<P>): Boolean {
        permit.ifPresent { add(owner, it) }
        return permit.isPresent
    }

    override fun toString() = lock.toString()
}

/** Futures, suspend functions and `select` alternate, in one queue. */
class JavaKotlinReadWriteLockFace(private val lock: ReadWriteLock) :
    ReadWriteLockFace by KotlinReadWriteLockFace(lock) {
    constructor(policy: ReadWritePolicy, name: String?) : this(ReadWriteLock(policy, name))

    private val faces =
        listOf(
            JavaReadWriteLockFace(AsyncReadWriteLock.of(lock)),
            KotlinReadWriteLockFace(lock),
            SelectReadWriteLockFace(lock),
        )
    private var turn = 0

    private fun next() = faces[turn++ % faces.size]

    override suspend fun lockRead(owner: Any?) = next().lockRead(owner)

    override fun tryLockRead(owner: Any?) = next().tryLockRead(owner)

    override suspend fun lockWrite(owner: Any?) = next().lockWrite(owner)

    override fun tryLockWrite(owner: Any?) = next().tryLockWrite(owner)

    override suspend fun lockUpgradable(owner: Any?) = next().lockUpgradable(owner)

    override fun tryLockUpgradable(owner: Any?) = next().tryLockUpgradable(owner)

    override fun toString() = lock.toString()
}

internal fun AsyncReadWriteLock.ownedByOrNull(owner: Any?) = if (owner == null) this else ownedBy(owner)
