package baton.sync

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
