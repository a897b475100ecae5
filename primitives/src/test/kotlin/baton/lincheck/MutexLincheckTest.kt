package baton.lincheck

import baton.lincheck.world.BoostedCase
import baton.lincheck.world.Effort
import baton.lincheck.world.HonestMutexSequential
import baton.lincheck.world.LincheckBoosts
import baton.lincheck.world.LincheckCase
import baton.lincheck.world.LincheckClock
import baton.lincheck.world.MutexSequential
import baton.lincheck.world.NO_OWNER
import baton.lincheck.world.Rare
import baton.lincheck.world.Scenario
import baton.lincheck.world.THREADS
import baton.lincheck.world.after
import baton.lincheck.world.cancelled
import baton.lincheck.world.threads
import baton.lincheck.world.underLincheck
import baton.sync.Mutex
import kotlin.coroutines.CoroutineContext
import kotlin.coroutines.EmptyCoroutineContext
import kotlin.time.Duration.Companion.hours
import org.jetbrains.lincheck.datastructures.EnumGen
import org.jetbrains.lincheck.datastructures.IntGen
import org.jetbrains.lincheck.datastructures.Operation
import org.jetbrains.lincheck.datastructures.Param
import org.jetbrains.lincheck.datastructures.ThreadIdGen
import org.jetbrains.lincheck.datastructures.Validate

/** An object with an identity that survives Lincheck's replays. */
enum class LockOwner {
    ANN,
    BEN,
}

/** One for each of Lincheck's threads. */
internal enum class ThreadOwner {
    T0,
    T1,
    T2,
    T3,
    T4,
    T5,
    T6,
    T7,
}

abstract class MutexLincheckBase(override val model: Class<*>) : LincheckCase {
    protected val mutex = Mutex()

    override val generated
        get() = 40

    @Rare @Operation fun isLocked() = mutex.isLocked

    @Rare @Operation fun holder() = mutex.holder

    @Rare @Operation fun waiting() = mutex.waiting
}

/** Misuse included: any thread unlocks. */
class MutexLincheckTest : MutexLincheckBase(MutexSequential::class.java) {
    override val scenarios: List<Scenario>
        get() =
            listOf(
                // Between two holders the mutex is never free.
                threads(
                        { actor(::unlock) },
                        { actor(::lock) },
                        {
                            actor(::tryLock)
                            actor(::isLocked)
                            actor(::unlock)
                        },
                    )
                    .after { actor(::tryLock) }
            )

    @Operation(cancellableOnSuspension = false) suspend fun lock() = underLincheck { mutex.lock() }

    @Operation(cancellableOnSuspension = false)
    suspend fun lockBy(@Param(gen = EnumGen::class) owner: LockOwner) = underLincheck { mutex.lock(owner) }

    @Operation fun tryLock() = mutex.tryLock()

    @Operation fun tryLockBy(@Param(gen = EnumGen::class) owner: LockOwner) = mutex.tryLock(owner)

    @Operation fun unlock() = mutex.unlock()

    @Operation fun unlockBy(@Param(gen = EnumGen::class) owner: LockOwner) = mutex.unlock(owner)
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

    @Operation(cancellableOnSuspension = true, promptCancellation = true)
    suspend fun lockBy(@Param(name = "thread") thread: Int) {
        val owner = ThreadOwner.entries[thread]
        underLincheck(extra = extra(thread)) { mutex.lock(owner) }
        mine[thread] = owner
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

class MutexCancelLincheckTest : HonestMutexLincheckBase() {
    override val generated
        get() = 20

    override val scenarios: List<Scenario>
        get() =
            listOf(
                // A mutex that was granted to a cancelled thread is free again.
                threads(
                        {
                            actor(::unlock, 1)
                            actor(::tryLock, 1)
                        },
                        {
                            cancelled(::lockBy, 2)
                            actor(::tryLock, 2)
                        },
                    )
                    .after { actor(::tryLock, 1) }
            )
}

/** Timeouts: a timer may meet the hand-over, the cancellation, and each other. */
class MutexTimeoutLincheckTest : HonestMutexLincheckBase() {
    override val generated
        get() = 12

    private val clock = LincheckClock()

    @Operation(cancellableOnSuspension = true, promptCancellation = true)
    suspend fun tryLockTimed(@Param(name = "thread") thread: Int): Boolean =
        underLincheck(clock.timerOf(thread)) { mutex.tryLock(1.hours) }.also { if (it) mine[thread] = NO_OWNER }

    @Operation(cancellableOnSuspension = true, promptCancellation = true)
    suspend fun tryLockTimedBy(@Param(name = "thread") thread: Int): Boolean {
        val owner = ThreadOwner.entries[thread]
        return underLincheck(clock.timerOf(thread)) { mutex.tryLock(1.hours, owner) }
            .also { if (it) mine[thread] = owner }
    }

    @Operation fun timePasses(@Param(gen = IntGen::class, conf = "1:3") thread: Int) = clock.timePasses(thread)

    override val scenarios: List<Scenario>
        get() =
            listOf(
                // The timer meets the hand-over.
                threads(
                        { actor(::unlock, 1) },
                        { actor(::tryLockTimed, 2) },
                        {
                            actor(::timePasses, 2)
                            actor(::waiting)
                        },
                    )
                    .after { actor(::tryLock, 1) },
                // One of the two waiters whose timers go off may be the next holder.
                threads(
                        {
                            actor(::timePasses, 3)
                            actor(::unlock, 1)
                            actor(::timePasses, 2)
                            actor(::holder)
                        },
                        { actor(::tryLockTimedBy, 2) },
                        { actor(::tryLockTimedBy, 3) },
                    )
                    .after { actor(::tryLock, 1) },
            )
}

/** Callers lock at several levels and can be boosted. The mutex behaves the same, and boosts no holder needlessly. */
class MutexBoostLincheckTest : HonestMutexLincheckBase(), BoostedCase {
    override val generated
        get() = 8

    override val spins
        get() = Effort.SPINS_OVER_LEVELS

    private val boosts = LincheckBoosts()

    override fun extra(thread: Int): CoroutineContext = boosts.contextOf(thread)

    /** One boost for one holder. No boost if no caller waits, or if the holder is unknown. */
    @Validate
    fun boosts() {
        val wanted = mutex.isLocked && mutex.waiting > 0
        check(boosts.given <= if (wanted) 1 else 0) { "${boosts.given} boosts, $mutex" }
    }
}
