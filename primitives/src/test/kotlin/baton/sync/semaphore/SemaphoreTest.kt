package baton.sync.semaphore

import baton.sync.semaphore.contract.KotlinSemaphoreFace
import baton.sync.semaphore.contract.MixedSemaphoreFace
import baton.sync.semaphore.contract.SelectSemaphoreFace
import baton.sync.semaphore.contract.SemaphoreContract
import baton.sync.semaphore.contract.SemaphoreDispatch
import baton.sync.semaphore.contract.SemaphoreHostility
import baton.sync.semaphore.contract.SemaphoreRunTwice
import baton.sync.semaphore.contract.SemaphoreTimeouts

class KotlinSemaphoreTest :
    SemaphoreContract(::KotlinSemaphoreFace),
    SemaphoreTimeouts,
    SemaphoreDispatch,
    SemaphoreRunTwice

class SelectSemaphoreTest :
    SemaphoreContract(::SelectSemaphoreFace),
    SemaphoreTimeouts,
    SemaphoreDispatch,
    SemaphoreHostility

class MixedSemaphoreTest :
    SemaphoreContract(::MixedSemaphoreFace),
    SemaphoreTimeouts,
    SemaphoreDispatch,
    SemaphoreHostility
