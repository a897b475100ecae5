package baton.sync.mutex

class KotlinMutexTest :
    MutexContract(::KotlinMutexFace),
    MutexTimeouts,
    MutexDispatch,
    MutexRunTwice

class SelectMutexTest :
    MutexContract(::SelectMutexFace),
    MutexTimeouts,
    MutexDispatch,
    MutexHostility

class MixedMutexTest :
    MutexContract(::MixedMutexFace),
    MutexTimeouts,
    MutexDispatch,
    MutexHostility
