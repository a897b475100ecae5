package baton.sync

class KotlinReadWriteLockTest :
    ReadWriteContract(::KotlinReadWriteLockFace),
    ReadWriteTimeouts,
    ReadWriteDispatch,
    ReadWriteRunTwice

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
