package baton.sync

class KotlinReadWriteLockTest :
    ReadWriteContract(::KotlinReadWriteLockFace),
    ReadWriteTimeouts,
    ReadWriteDispatch,
    ReadWriteHostility

class SelectReadWriteLockTest :
    ReadWriteContract(::SelectReadWriteLockFace),
    ReadWriteTimeouts,
    ReadWriteDispatch,
    ReadWriteHostility

class MixedReadWriteLockTest :
    ReadWriteContract(::MixedReadWriteLockFace),
    ReadWriteTimeouts,
    ReadWriteDispatch,
    ReadWriteHostility
