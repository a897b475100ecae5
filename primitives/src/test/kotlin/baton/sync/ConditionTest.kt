package baton.sync

class KotlinConditionTest :
    ConditionContract(::KotlinConditionFace),
    ConditionReturn,
    ConditionTimeouts,
    ConditionDispatch,
    ConditionHostility
