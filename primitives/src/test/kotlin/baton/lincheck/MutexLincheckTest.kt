package baton.lincheck

import baton.lincheck.world.Effort
import baton.lincheck.world.HonestMutexSequential
import baton.lincheck.world.MutexSequential
import baton.lincheck.world.NO_OWNER
import baton.lincheck.world.Rare
import baton.lincheck.world.THREADS
import baton.lincheck.world.underLincheck
import baton.sync.Mutex
import baton.sync.readwrite.contract.cancelled
import kotlin.coroutines.CoroutineContext
import kotlin.coroutines.EmptyCoroutineContext
import org.jetbrains.lincheck.datastructures.DSLScenarioBuilder
import org.jetbrains.lincheck.datastructures.EnumGen
import org.jetbrains.lincheck.datastructures.Operation
import org.jetbrains.lincheck.datastructures.Param
import org.jetbrains.lincheck.datastructures.ThreadIdGen
import org.junit.jupiter.api.Test

/** An object with an identity that survives Lincheck's replays. */
enum class LockOwner { ANN, BEN }

/** One for each of Lincheck's threads. */
internal enum class ThreadOwner { T0, T1, T2, T3, T4, T5, T6, T7 }

abstract class MutexLincheckBase(private val sequential: Class<*>) {
    protected val mutex = Mutex()

    internal open val effort get() = Effort.SHORT

    /** How many scenarios the ordinary run generates. */
    internal open val generated get() = 40
    internal open val spins get() = Effort.SPINS

    @Rare
    @Operation
    fun isLocked() = mutex.isLocked

    @Rare
    @Operation
    fun holder() = mutex.holder

    @Rare
    @Operation
    fun waiting() = mutex.waiting

    /** Scenarios written by hand, because random generation may miss them. */
    internal open val scenarios: List<DSLScenarioBuilder.() -> Unit> get() = emptyList()

    @Test
    fun chosenInterleavings_areLinearizable() =
        effort.checkInterleavings(javaClass, sequential, scenarios, generated, spins)

    @Test
    fun threads_areLinearizable() = effort.stress(sequential, scenarios).check(javaClass)
}

/** Misuse included: any thread unlocks. */
open class MutexLincheckTest : MutexLincheckBase(MutexSequential::class.java) {
    override val scenarios: List<DSLScenarioBuilder.() -> Unit>
        get() = listOf(
            { // Between two holders the mutex is never free.
                initial { actor(::tryLock) }
                parallel {
                    thread { actor(::unlock) }
                    thread { actor(::lock) }
                    thread {
                        actor(::tryLock)
                        actor(::isLocked)
                        actor(::unlock)
                    }
                }
            },
        )

    @Operation(cancellableOnSuspension = false)
    suspend fun lock() = underLincheck { mutex.lock() }

    @Operation(cancellableOnSuspension = false)
    suspend fun lockBy(@Param(gen = EnumGen::class) owner: LockOwner) = underLincheck { mutex.lock(owner) }

    @Operation
    fun tryLock() = mutex.tryLock()

    @Operation
    fun tryLockBy(@Param(gen = EnumGen::class) owner: LockOwner) = mutex.tryLock(owner)

    @Operation
    fun unlock() = mutex.unlock()

    @Operation
    fun unlockBy(@Param(gen = EnumGen::class) owner: LockOwner) = mutex.unlock(owner)
}

class MutexLincheckDeepTest : MutexLincheckTest() {
    override val effort get() = Effort.DEEP
}

/**
 * Cancellation included. Only the thread that has locked unlocks, and no two threads use one owner. A mutex that was
 * granted to a cancelled caller stays locked until the caller hands it back. An unlock by another thread, or a lock by
 * the same owner, would observe that.
 */
@Param(name = "thread", gen = ThreadIdGen::class)
abstract class HonestMutexLincheckBase : MutexLincheckBase(HonestMutexSequential::class.java) {
    protected val mine = Array<Any?>(THREADS) { null }

    /** Further elements of the context of the caller that locks. */
    protected open fun extra(thread: Int): CoroutineContext = EmptyCoroutineContext

    @Operation(cancellableOnSuspension = true, promptCancellation = true)
    suspend fun lock(@Param(name = "thread") thread: Int) {
        underLincheck(extra = extra(thread)) { mutex.lock() }
        mine[thread] = NO_OWNER
    }

    @Operation
    fun tryLock(@Param(name = "thread") thread: Int) = mutex.tryLock().also { if (it) mine[thread] = NO_OWNER }

    @Operation
    fun unlock(@Param(name = "thread") thread: Int) {
        val owner = mine[thread] ?: return
        mine[thread] = null
        mutex.unlock(owner.takeIf { it != NO_OWNER })
    }
}

open class MutexCancelLincheckTest : HonestMutexLincheckBase() {
    override val generated get() = 20

    override val scenarios: List<DSLScenarioBuilder.() -> Unit>
        get() = listOf(
            { // A mutex that was granted to a cancelled thread is free again.
                initial { actor(::tryLock, 1) }
                parallel {
                    thread {
                        actor(::unlock, 1)
                        actor(::tryLock, 1)
                    }
                    thread {
                        cancelled(::lockBy, 2)
                        actor(::tryLock, 2)
                    }
                }
            },
        )

    @Operation(cancellableOnSuspension = true, promptCancellation = true)
    suspend fun lockBy(@Param(name = "thread") thread: Int) {
        val owner = ThreadOwner.entries[thread]
        underLincheck { mutex.lock(owner) }
        mine[thread] = owner
    }
}

class MutexCancelLincheckDeepTest : MutexCancelLincheckTest() {
    override val effort get() = Effort.DEEP
}
