package baton.sync

class KotlinBarrierTest :
    BarrierContract(::KotlinBarrierFace),
    BarrierTimeouts,
    BarrierDispatch,
    BarrierHostility
