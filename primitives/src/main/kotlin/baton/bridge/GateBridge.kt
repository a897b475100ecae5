@file:JvmName("GateBridge")

package baton.bridge

import baton.InternalBatonApi
import baton.parallel.MemoryGate
import java.time.Duration
import kotlin.time.toJavaDuration

/** The time between two looks at the gate. Java cannot call functions with a kotlin.time.Duration. */
@InternalBatonApi public fun intervalOf(gate: MemoryGate): Duration = gate.every.toJavaDuration()
