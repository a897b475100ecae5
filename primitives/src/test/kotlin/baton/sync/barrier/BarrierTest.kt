package baton.sync.barrier

class KotlinBarrierTest :
    BarrierContract(::KotlinBarrierFace),
    BarrierTimeouts,
    BarrierDispatch,
    BarrierHostility
