package baton.sync.readwrite.contract

import baton.lincheck.HonestMutexLincheckBase
import baton.lincheck.LockOwner
import baton.lincheck.world.LincheckClock
import baton.lincheck.world.NO_TIMER
import baton.lincheck.world.Rare
import baton.lincheck.world.ReadWriteMode
import baton.lincheck.world.ReadWriteMode.READ
import baton.lincheck.world.ReadWriteMode.UPGRADABLE
import baton.lincheck.world.ReadWriteMode.UPGRADE
import baton.lincheck.world.ReadWriteMode.WRITE
import baton.lincheck.world.ReadWriteSubject
import baton.lincheck.world.THREADS
import baton.lincheck.world.underLincheck
import baton.sync.ReadWriteLock
import baton.sync.ReadWritePolicy
import kotlin.time.Duration.Companion.hours
import org.jetbrains.lincheck.datastructures.EnumGen
import org.jetbrains.lincheck.datastructures.IntGen
import org.jetbrains.lincheck.datastructures.Operation
import org.jetbrains.lincheck.datastructures.Param
import org.jetbrains.lincheck.datastructures.ThreadIdGen

/** The lock, as Lincheck can cancel it and let its time pass. */
internal class ReadWriteUnderLincheck(policy: ReadWritePolicy) : ReadWriteSubject {
    private val lock = ReadWriteLock(policy)
    private val clock = LincheckClock()

    override fun readers() = lock.readers

    override fun isWriteLocked() = lock.isWriteLocked

    override fun waiting() = lock.waiting

    override fun writeHolder() = lock.writeHolder

    override fun readHolders() = lock.readHolders

    override fun tryLock(mode: ReadWriteMode, owner: Any?) =
        when (mode) {
            READ -> lock.tryLockRead(owner)
            WRITE -> lock.tryLockWrite(owner)
            UPGRADABLE -> lock.tryLockUpgradable(owner)
            UPGRADE -> lock.tryUpgrade(owner)
        }

    override suspend fun lock(mode: ReadWriteMode, owner: Any?, timer: Int): Boolean =
        if (timer == NO_TIMER) {
            underLincheck { lockWith(mode, owner) }
            true
        } else {
            underLincheck(clock.timerOf(timer)) { lockInTime(mode, owner) }
        }

    private suspend fun lockWith(mode: ReadWriteMode, owner: Any?) =
        when (mode) {
            READ -> lock.lockRead(owner)
            WRITE -> lock.lockWrite(owner)
            UPGRADABLE -> lock.lockUpgradable(owner)
            UPGRADE -> lock.upgrade(owner)
        }

    private suspend fun lockInTime(mode: ReadWriteMode, owner: Any?) =
        when (mode) {
            READ -> lock.tryLockRead(1.hours, owner)
            WRITE -> lock.tryLockWrite(1.hours, owner)
            UPGRADABLE -> lock.tryLockUpgradable(1.hours, owner)
            UPGRADE -> lock.tryUpgrade(1.hours, owner)
        }

    override fun unlock(mode: ReadWriteMode, owner: Any?) =
        when (mode) {
            READ -> lock.unlockRead(owner)
            WRITE -> lock.unlockWrite(owner)
            else -> lock.unlockUpgradable(owner)
        }

    override fun downgrade(owner: Any?) = lock.downgrade(owner)

    override fun timePasses(timer: Int) = clock.timePasses(timer)
}

/** The caller: an owner, or a caller without one. */
enum class Asker(val owner: LockOwner?) {
    NO_OWNER(null),
    ANN(LockOwner.ANN),
    BEN(LockOwner.BEN),
}

/** Misuse included: any thread unlocks. See [HonestMutexLincheckBase] for why no caller is cancelled here. */
internal abstract class UnownedReadWrite(private val lock: ReadWriteSubject) {
    @Operation(cancellableOnSuspension = false)
    suspend fun lock(@Param(gen = EnumGen::class) mode: ReadWriteMode, @Param(gen = EnumGen::class) by: Asker) {
        lock.lock(mode, by.owner)
    }

    @Operation
    fun tryLock(@Param(gen = EnumGen::class) mode: ReadWriteMode, @Param(gen = EnumGen::class) by: Asker) =
        lock.tryLock(mode, by.owner)

    @Operation
    fun unlock(
        @Param(gen = EnumGen::class, conf = "READ,WRITE,UPGRADABLE") mode: ReadWriteMode,
        @Param(gen = EnumGen::class) by: Asker,
    ) = lock.unlock(mode, by.owner)

    @Operation fun downgrade(@Param(gen = EnumGen::class) by: Asker) = lock.downgrade(by.owner)

    @Rare @Operation fun writeHolder() = lock.writeHolder()

    @Rare @Operation fun readHolders() = lock.readHolders().map { "$it" }.sorted().toString()

    @Rare @Operation fun readers() = lock.readers()

    @Rare @Operation fun waiting() = lock.waiting()

    override fun equals(other: Any?) = other is UnownedReadWrite && lock == other.lock

    override fun hashCode() = lock.hashCode()
}

/**
 * Cancellation and timeouts included. Only the thread that has locked unlocks.
 *
 * A reader whose time is over is not included: it may have been counted among the readers that a writer admitted, until
 * its timer took effect, and no order of the operations explains that. A cancelled reader may have been a holder.
 */
@Param(name = "thread", gen = ThreadIdGen::class)
internal abstract class HonestReadWrite(private val lock: ReadWriteSubject) {
    private val held = List(THREADS) { ArrayList<Pair<ReadWriteMode, LockOwner?>>() }

    protected suspend fun lockBy(thread: Int, mode: ReadWriteMode, owner: LockOwner?, timer: Int = NO_TIMER): Boolean {
        if (mode == UPGRADE && UPGRADABLE to owner !in held[thread]) return false
        return lock.lock(mode, owner, timer).also { if (it) note(thread, mode, owner) }
    }

    protected fun tryLockBy(thread: Int, mode: ReadWriteMode, owner: LockOwner?): Boolean {
        if (mode == UPGRADE && UPGRADABLE to owner !in held[thread]) return false
        return lock.tryLock(mode, owner).also { if (it) note(thread, mode, owner) }
    }

    private fun note(thread: Int, mode: ReadWriteMode, owner: LockOwner?) {
        if (mode == UPGRADE) held[thread] -= UPGRADABLE to owner
        held[thread] += (if (mode == UPGRADE) WRITE else mode) to owner
    }

    @Operation
    fun unlock(@Param(name = "thread") thread: Int) {
        val (mode, owner) = held[thread].removeLastOrNull() ?: return
        lock.unlock(mode, owner)
    }

    @Operation
    fun downgrade(@Param(name = "thread") thread: Int) {
        val written = held[thread].find { it.first == WRITE } ?: return
        held[thread] -= written
        held[thread] += READ to written.second
        lock.downgrade(written.second)
    }

    @Operation fun timePasses(@Param(gen = IntGen::class, conf = "1:3") thread: Int) = lock.timePasses(thread)

    @Rare @Operation fun readers() = lock.readers()

    @Rare @Operation fun isWriteLocked() = lock.isWriteLocked()

    @Rare @Operation fun waiting() = lock.waiting()

    override fun equals(other: Any?) = other is HonestReadWrite && lock == other.lock && held == other.held

    override fun hashCode() = lock.hashCode()
}

internal abstract class PlainReadWrite(lock: ReadWriteSubject) : HonestReadWrite(lock) {
    @Operation(cancellableOnSuspension = true, promptCancellation = true)
    suspend fun lock(
        @Param(name = "thread") thread: Int,
        @Param(gen = EnumGen::class, conf = "READ,WRITE") mode: ReadWriteMode,
    ) = lockBy(thread, mode, null)

    @Operation
    fun tryLock(
        @Param(name = "thread") thread: Int,
        @Param(gen = EnumGen::class, conf = "READ,WRITE") mode: ReadWriteMode,
    ) = tryLockBy(thread, mode, null)

    @Operation(cancellableOnSuspension = true, promptCancellation = true)
    suspend fun tryLockWriteTimed(@Param(name = "thread") thread: Int) = lockBy(thread, WRITE, null, thread)
}

internal abstract class UpgradingReadWrite(lock: ReadWriteSubject) : HonestReadWrite(lock) {
    @Operation(cancellableOnSuspension = true, promptCancellation = true)
    suspend fun lock(@Param(name = "thread") thread: Int, @Param(gen = EnumGen::class) mode: ReadWriteMode) =
        lockBy(thread, mode, null)

    @Operation
    fun tryLock(@Param(name = "thread") thread: Int, @Param(gen = EnumGen::class) mode: ReadWriteMode) =
        tryLockBy(thread, mode, null)

    @Operation(cancellableOnSuspension = true, promptCancellation = true)
    suspend fun tryLockTimed(
        @Param(name = "thread") thread: Int,
        @Param(gen = EnumGen::class, conf = "UPGRADABLE,UPGRADE") mode: ReadWriteMode,
    ) = lockBy(thread, mode, null, thread)
}

internal abstract class OwnedReadWrite(private val lock: ReadWriteSubject) : HonestReadWrite(lock) {
    @Operation(cancellableOnSuspension = true, promptCancellation = true)
    suspend fun lock(
        @Param(name = "thread") thread: Int,
        @Param(gen = EnumGen::class) mode: ReadWriteMode,
        @Param(gen = EnumGen::class) owner: LockOwner,
    ) = lockBy(thread, mode, owner)

    @Operation
    fun tryLock(
        @Param(name = "thread") thread: Int,
        @Param(gen = EnumGen::class) mode: ReadWriteMode,
        @Param(gen = EnumGen::class) by: Asker,
    ) = tryLockBy(thread, mode, by.owner)

    @Rare @Operation fun writeHolder() = lock.writeHolder()

    @Rare @Operation fun readHolders() = lock.readHolders().map { "$it" }.sorted().toString()
}
