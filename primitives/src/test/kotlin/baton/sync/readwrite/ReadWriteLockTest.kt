package baton.sync.readwrite

import baton.sync.readwrite.contract.KotlinReadWriteLockFace
import baton.sync.readwrite.contract.MixedReadWriteLockFace
import baton.sync.readwrite.contract.ReadWriteContract
import baton.sync.readwrite.contract.ReadWriteDispatch
import baton.sync.readwrite.contract.ReadWriteHostility
import baton.sync.readwrite.contract.ReadWriteRunTwice
import baton.sync.readwrite.contract.ReadWriteTimeouts
import baton.sync.readwrite.contract.SelectReadWriteLockFace

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
