package baton.sync

class KotlinMutexTest :
    MutexContract(::KotlinMutexFace),
    MutexTimeouts,
    MutexDispatch,
    MutexHostility

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
