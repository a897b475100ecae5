package baton.sync.readwrite

import baton.sync.readwrite.contract.KotlinReadWriteLockFace
import baton.sync.readwrite.contract.MixedReadWriteLockFace
import baton.sync.readwrite.contract.ReadWriteContract
import baton.sync.readwrite.contract.ReadWriteDispatch
import baton.sync.readwrite.contract.ReadWriteHostility
import baton.sync.readwrite.contract.ReadWriteRunTwice
import baton.sync.readwrite.contract.ReadWriteTimeouts
import baton.sync.readwrite.contract.SelectReadWriteLockFace
import baton.waiting.contract.SuspendingWaiterDispatch
import baton.waiting.contract.WaiterDispatch
import baton.waiting.contract.WaiterTimeouts

class KotlinReadWriteLockTest :
    ReadWriteContract(::KotlinReadWriteLockFace),
    WaiterTimeouts,
    ReadWriteTimeouts,
    SuspendingWaiterDispatch,
    ReadWriteDispatch,
    ReadWriteRunTwice

class SelectReadWriteLockTest :
    ReadWriteContract(::SelectReadWriteLockFace),
    WaiterTimeouts,
    ReadWriteTimeouts,
    WaiterDispatch,
    ReadWriteDispatch,
    ReadWriteHostility

class MixedReadWriteLockTest :
    ReadWriteContract(::MixedReadWriteLockFace),
    WaiterTimeouts,
    ReadWriteTimeouts,
    WaiterDispatch,
    ReadWriteDispatch,
    ReadWriteHostility
