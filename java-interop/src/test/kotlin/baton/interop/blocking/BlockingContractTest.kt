package baton.interop.blocking

import baton.channels.contract.ChannelFactory
import baton.interop.AsyncChannel
import baton.interop.AsyncLatch
import baton.interop.AsyncWaitGroup
import baton.interop.FutureChannelContract
import baton.interop.JavaConditionContract
import baton.interop.JavaReadWriteContract
import baton.sync.Barrier
import baton.sync.Mutex
import baton.sync.ReadWriteLock
import baton.sync.Semaphore
import baton.sync.barrier.BarrierCancellations
import baton.sync.barrier.BarrierFactory
import baton.sync.barrier.BarrierResets
import baton.sync.barrier.BarrierTrips
import baton.sync.condition.ConditionFactory
import baton.sync.countdown.CountdownContract
import baton.sync.countdown.WaitGroupContract
import baton.sync.countdown.waitGroup
import baton.sync.mutex.MutexFactory
import baton.sync.mutex.MutexOrder
import baton.sync.mutex.MutexPlace
import baton.sync.readwrite.contract.ReadWriteCancellation
import baton.sync.readwrite.contract.ReadWriteLockFactory
import baton.sync.readwrite.contract.ReadWriteOrder
import baton.sync.semaphore.contract.SemaphoreClosing
import baton.sync.semaphore.contract.SemaphoreContract
import baton.sync.semaphore.contract.SemaphoreFactory
import baton.sync.semaphore.contract.SemaphoreOrder
import baton.waiting.contract.WaiterContract
import baton.waiting.contract.WaitingKind

// Left out: timeouts in virtual time, and dispatchers, which threads do not have.

/** The floods are left out: thousands of threads, one after the other, tell no more than the rest. */
class BlockingSemaphoreContractTest : SemaphoreContract(::BlockingSemaphoreFace) {
    override val sequences: Int
        get() = 40

    override fun acquire_randomWeights_areServedInOrderAndNothingIsLost() = Unit

    override fun priority_flood_passesALevelExactlyAsOftenAsPromised() = Unit

    override fun priority_everyLevelWaits_eachIsServedWithinItsBound() = Unit
}

/** Without the topic of unfairness: a coroutine takes its permit when it runs, which a step does not wait for. */
class MixedBlockingSemaphoreContractTest : WaiterContract, SemaphoreOrder, SemaphoreClosing {
    override val factory: SemaphoreFactory = { permits, acquired, order, name ->
        BlockingSemaphoreFace(Semaphore(permits, acquired, order, name), isMixed = true)
    }

    override fun acquire_randomWeights_areServedInOrderAndNothingIsLost() = Unit
}

/** Each caller is an owner, the thread: the topic of other owners is left out. */
abstract class ThreadMutexContract(override val factory: MutexFactory) : WaiterContract, MutexOrder {
    override val waitingKinds: List<WaitingKind>
        get() = listOf(WaitingKind("lock()") { MutexPlace(mutex(locked = true), isOwned = false) })

    override fun toString_inEveryState_showsIt() = Unit
}

class BlockingMutexContractTest : ThreadMutexContract(::BlockingMutexFace)

class MixedBlockingMutexContractTest :
    ThreadMutexContract({ locked, name -> BlockingMutexFace(Mutex(locked, name), isMixed = true) })

/** The text names the thread as the owner. */
abstract class ThreadConditionContract(factory: ConditionFactory) : JavaConditionContract(factory) {
    override fun toString_inEveryState_showsIt() = Unit
}

class BlockingConditionContractTest : ThreadConditionContract(::BlockingConditionFace)

class MixedBlockingConditionContractTest :
    ThreadConditionContract({ mutex, name ->
        BlockingConditionFace(Mutex(name = mutex).newCondition(name), isMixed = true)
    })

/** Left out: the order within one step, and a message that names a writer without an owner, which is a thread here. */
class BlockingReadWriteLockContractTest : JavaReadWriteContract(::BlockingReadWriteLockFace) {
    override fun phaseFair_readersAndWritersWait_takeTurns() = Unit

    override fun lock_behindOneThatWaitsForTheCaller_throwsAndNamesBothAndTryLockIsRefused() = Unit
}

/** The topics in which the blocking view takes part; callers wait in the same way under every policy. */
class MixedBlockingReadWriteLockContractTest : WaiterContract, ReadWriteOrder, ReadWriteCancellation {
    override val factory: ReadWriteLockFactory = { policy, name ->
        BlockingReadWriteLockFace(ReadWriteLock(policy, name), isMixed = true)
    }

    override val waitingKinds: List<WaitingKind>
        get() = super<ReadWriteOrder>.waitingKinds.take(6)

    override fun phaseFair_readersAndWritersWait_takeTurns() = Unit
}

/** The topic of actions is left out: the thread that runs the action does not wait at the barrier. */
abstract class ThreadBarrierContract(override val factory: BarrierFactory) :
    WaiterContract, BarrierTrips, BarrierCancellations, BarrierResets {
    /** Each is a thread. */
    override val places: Int
        get() = 10

    override fun reset_whileTheActionRuns_barrierIsWholeAtOnceWhateverTheOldActionDoes() = Unit

    override fun resetOrAbort_whileTheActionRuns_failsTheOthersNowAndTheLastPartyAtTheEnd() = Unit
}

class BlockingBarrierContractTest : ThreadBarrierContract(::BlockingBarrierFace)

class MixedBlockingBarrierContractTest :
    ThreadBarrierContract({ n, onCancel, name, action ->
        BlockingBarrierFace(Barrier(n, onCancel, name, action), isMixed = true)
    })

class BlockingLatchContractTest : CountdownContract(::BlockingLatchFace)

class MixedBlockingLatchContractTest :
    CountdownContract({ count, name -> BlockingLatchFace(AsyncLatch.create(count, name), isMixed = true) })

class BlockingWaitGroupContractTest : WaitGroupContract(::BlockingWaitGroupFace)

class MixedBlockingWaitGroupContractTest :
    WaitGroupContract({ n, name -> BlockingWaitGroupFace(AsyncWaitGroup.of(waitGroup(n, name)), isMixed = true) })

/** The flood is left out, as that of the semaphore. */
abstract class ThreadChannelContract(factory: ChannelFactory) : FutureChannelContract(factory) {
    override val sequences: Int
        get() = 30

    override fun urgentElementsAndSenders_flood_noLevelIsPassedOverForEver() = Unit
}

class BlockingChannelContractTest : ThreadChannelContract(::BlockingChannelFace) {
    override val isPlain: Boolean
        get() = true
}

class MixedBlockingChannelContractTest :
    ThreadChannelContract({ BlockingChannelFace(AsyncChannel.of(it.build()), isMixed = true) })
