package baton.sync.mutex

import baton.waiting.contract.SuspendingWaiterDispatch
import baton.waiting.contract.WaiterDispatch
import baton.waiting.contract.WaiterTimeouts

class KotlinMutexTest : MutexContract(::KotlinMutexFace), WaiterTimeouts, SuspendingWaiterDispatch, MutexRunTwice

class SelectMutexTest : MutexContract(::SelectMutexFace), WaiterTimeouts, WaiterDispatch, MutexHostility

class MixedMutexTest : MutexContract(::MixedMutexFace), WaiterTimeouts, WaiterDispatch, MutexHostility
