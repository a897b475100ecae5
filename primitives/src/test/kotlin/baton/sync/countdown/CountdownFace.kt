package baton.sync.countdown

import baton.waiting.contract.WaiterTimeouts
import kotlin.time.Duration

/** A latch or a wait group as the contracts see it, over any of the APIs. */
interface CountdownFace {
    val count: Int

    val waiting: Int

    /** `countDown` or `done`. */
    fun down()

    suspend fun await()

    /** In the virtual time of the calling coroutine; only the contract [WaiterTimeouts] calls it. */
    suspend fun await(timeout: Duration): Boolean

    /** Returns the primitive's own string, or a text that contains it. */
    override fun toString(): String
}

interface WaitGroupFace : CountdownFace {
    fun add(n: Int = 1)
}

/** Makes the latch or group of a test: its count, and its name. */
typealias CountdownFactory = (count: Int, name: String?) -> CountdownFace

typealias WaitGroupFactory = (count: Int, name: String?) -> WaitGroupFace
