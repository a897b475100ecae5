package baton.sync.countdown

import org.junit.jupiter.api.Assertions.assertEquals

fun assertState(countdown: CountdownFace, count: Int, waiting: Int = 0) {
    val state = "count = ${countdown.count}, waiting = ${countdown.waiting}"
    assertEquals("count = $count, waiting = $waiting", state)
}

/** The common part of the topics of the contracts of latch and group. */
interface CountdownFixture {
    val factory: CountdownFactory

    fun countdown(count: Int, name: String? = null): CountdownFace = factory(count, name)
}

/**
 * The common contract of latch and group for every kind of caller: a suspend function, a `select`, a future, or all in
 * one queue. It consists of topics: an API that cannot do one of them (say [CountdownTimeouts]) implements the others.
 */
abstract class CountdownContract(override val factory: CountdownFactory) :
    CountdownOrder,
    CountdownCancellation

abstract class WaitGroupContract(final override val factory: WaitGroupFactory) :
    CountdownContract(factory),
    WaitGroupRounds
