package baton.sync.condition

class KotlinConditionTest :
    ConditionContract(::KotlinConditionFace),
    ConditionReturn,
    ConditionTimeouts,
    ConditionDispatch,
    ConditionHostility
