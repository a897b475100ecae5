package baton.sync

class KotlinMutexTest :
    MutexContract(::KotlinMutexFace),
    MutexTimeouts,
    MutexDispatch

class SelectMutexTest :
    MutexContract(::SelectMutexFace),
    MutexTimeouts,
    MutexDispatch

class MixedMutexTest :
    MutexContract(::MixedMutexFace),
    MutexTimeouts,
    MutexDispatch
