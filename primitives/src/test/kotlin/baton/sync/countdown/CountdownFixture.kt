package baton.sync.countdown

import baton.waiting.contract.WaiterContract
import baton.waiting.contract.WaiterFixture
import baton.waiting.contract.WaiterTimeouts
import baton.waiting.contract.WaitingKind
import baton.waiting.contract.WaitingPlace
import kotlin.time.Duration
import org.junit.jupiter.api.Assertions.assertEquals

fun assertState(countdown: CountdownFace, count: Int, waiting: Int = 0) {
    val state = "count = ${countdown.count}, waiting = ${countdown.waiting}"
    assertEquals("count = $count, waiting = $waiting", state)
}

/** The common part of the topics of the contracts of latch and group. */
interface CountdownFixture : WaiterFixture {
    val factory: CountdownFactory

    fun countdown(count: Int, name: String? = null): CountdownFace = factory(count, name)

    override val waitingKinds: List<WaitingKind>
        get() = listOf(WaitingKind("await()", grantsAll = true) { CountdownPlace(countdown(1)) })
}

internal class CountdownPlace(private val countdown: CountdownFace) : WaitingPlace {
    override val waiting: Int
        get() = countdown.waiting

    override suspend fun waitHere() = countdown.await()

    override suspend fun waitHere(timeout: Duration) = countdown.await(timeout)

    override fun grant() = countdown.down()

    override fun assertIdle(holders: Int) {
        assertState(countdown, countdown.count)
        if (countdown.count > 0) countdown.down()
        assertState(countdown, count = 0)
    }
}

/**
 * The common contract of latch and group for every kind of caller: a suspend function, a `select`, a future, or all in
 * one queue. It consists of topics: an API that cannot do one of them (say [WaiterTimeouts]) implements the others.
 */
abstract class CountdownContract(override val factory: CountdownFactory) : WaiterContract, CountdownOrder

abstract class WaitGroupContract(final override val factory: WaitGroupFactory) :
    CountdownContract(factory), WaitGroupRounds
