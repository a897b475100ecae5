package baton.sync.semaphore

import baton.sync.semaphore.contract.KotlinSemaphoreFace
import baton.sync.semaphore.contract.MixedSemaphoreFace
import baton.sync.semaphore.contract.SelectSemaphoreFace
import baton.sync.semaphore.contract.SemaphoreContract
import baton.sync.semaphore.contract.SemaphoreHostility
import baton.sync.semaphore.contract.SemaphoreRunTwice
import baton.sync.semaphore.contract.SemaphoreTimeouts
import baton.waiting.contract.SuspendingWaiterDispatch
import baton.waiting.contract.WaiterDispatch
import baton.waiting.contract.WaiterTimeouts

class KotlinSemaphoreTest :
    SemaphoreContract(::KotlinSemaphoreFace),
    WaiterTimeouts,
    SemaphoreTimeouts,
    SuspendingWaiterDispatch,
    SemaphoreRunTwice

class SelectSemaphoreTest :
    SemaphoreContract(::SelectSemaphoreFace), WaiterTimeouts, SemaphoreTimeouts, WaiterDispatch, SemaphoreHostility

class MixedSemaphoreTest :
    SemaphoreContract(::MixedSemaphoreFace), WaiterTimeouts, SemaphoreTimeouts, WaiterDispatch, SemaphoreHostility
