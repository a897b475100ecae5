package baton.sync

class KotlinMutexTest :
    MutexContract(::KotlinMutexFace),
    MutexTimeouts,
    MutexDispatch,
    MutexHostility

class SelectMutexTest :
    MutexContract(::SelectMutexFace),
    MutexTimeouts,
    MutexDispatch

class MixedMutexTest :
    MutexContract(::MixedMutexFace),
    MutexTimeouts,
    MutexDispatch
