package baton.interop.blocking

import baton.interop.FutureChannelContract
import baton.sync.barrier.BarrierCancellations
import baton.sync.barrier.BarrierFactory
import baton.sync.barrier.BarrierResets
import baton.sync.barrier.BarrierTrips
import baton.sync.countdown.CountdownContract
import baton.sync.countdown.WaitGroupContract
import baton.sync.mutex.MutexFactory
import baton.sync.mutex.MutexOrder
import baton.sync.mutex.MutexPlace
import baton.sync.semaphore.contract.SemaphoreContract
import baton.waiting.contract.WaiterContract
import baton.waiting.contract.WaitingKind

// Left out: timeouts in virtual time, and dispatchers, which threads do not have.

/** The floods are left out: thousands of threads, one after the other, tell no more than the rest. */
class BlockingSemaphoreContractTest : SemaphoreContract(::BlockingSemaphoreFace) {
    override fun acquire_randomWeights_areServedInOrderAndNothingIsLost() = Unit

    override fun priority_flood_passesALevelExactlyAsOftenAsPromised() = Unit

    override fun priority_everyLevelWaits_eachIsServedWithinItsBound() = Unit
}

/** Each caller is an owner, the thread: the topic of other owners is left out. */
class BlockingMutexContractTest : WaiterContract, MutexOrder {
    override val factory: MutexFactory
        get() = ::BlockingMutexFace

    override val waitingKinds: List<WaitingKind>
        get() = listOf(WaitingKind("lock()") { MutexPlace(mutex(locked = true), isOwned = false) })

    override fun toString_inEveryState_showsIt() = Unit
}

/** The topic of actions is left out: the thread that runs the action does not wait at the barrier. */
class BlockingBarrierContractTest : WaiterContract, BarrierTrips, BarrierCancellations, BarrierResets {
    override val factory: BarrierFactory
        get() = ::BlockingBarrierFace

    override fun reset_whileTheActionRuns_barrierIsWholeAtOnceWhateverTheOldActionDoes() = Unit

    override fun resetOrAbort_whileTheActionRuns_failsTheOthersNowAndTheLastPartyAtTheEnd() = Unit
}

class BlockingLatchContractTest : CountdownContract(::BlockingLatchFace)

class BlockingWaitGroupContractTest : WaitGroupContract(::BlockingWaitGroupFace)

class BlockingChannelContractTest : FutureChannelContract(::BlockingChannelFace) {
    override val isPlain: Boolean
        get() = true
}
