package baton.sync

class KotlinReadWriteLockTest :
    ReadWriteContract(::KotlinReadWriteLockFace),
    ReadWriteTimeouts,
    ReadWriteDispatch

class SelectReadWriteLockTest :
    ReadWriteContract(::SelectReadWriteLockFace),
    ReadWriteTimeouts,
    ReadWriteDispatch

class MixedReadWriteLockTest :
    ReadWriteContract(::MixedReadWriteLockFace),
    ReadWriteTimeouts,
    ReadWriteDispatch
