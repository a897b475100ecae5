package baton.sync.condition

import baton.waiting.contract.SuspendingWaiterDispatch
import baton.waiting.contract.WaiterTimeouts

class KotlinConditionTest :
    ConditionContract(::KotlinConditionFace),
    ConditionReturn,
    WaiterTimeouts,
    ConditionTimeouts,
    SuspendingWaiterDispatch,
    ConditionHostility
