package baton.sync.barrier

import baton.waiting.contract.SuspendingWaiterDispatch
import baton.waiting.contract.WaiterTimeouts

class KotlinBarrierTest :
    BarrierContract(::KotlinBarrierFace),
    WaiterTimeouts,
    BarrierTimeouts,
    SuspendingWaiterDispatch,
    BarrierLeaders,
    BarrierHostility
