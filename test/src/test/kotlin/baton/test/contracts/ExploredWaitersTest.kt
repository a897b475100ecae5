package baton.test.contracts

import baton.channels.ChannelWaiterTest
import baton.sync.SemaphoreClosedException
import baton.sync.condition.KotlinConditionTest
import baton.sync.countdown.KotlinLatchTest
import baton.sync.countdown.KotlinWaitGroupTest
import baton.sync.countdown.MixedLatchTest
import baton.sync.countdown.MixedWaitGroupTest
import baton.waiting.contract.WaitingPlace
import kotlin.time.Duration.Companion.milliseconds
import kotlin.time.Duration.Companion.seconds
import kotlinx.coroutines.CoroutineName
import kotlinx.coroutines.Job
import kotlinx.coroutines.delay
import kotlinx.coroutines.joinAll
import kotlinx.coroutines.launch
import kotlinx.coroutines.yield
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.params.ParameterizedTest
import org.junit.jupiter.params.provider.FieldSource

/** The rules of waiting hold in any order, and whichever caller is cancelled at whichever point. */
internal class ExploredWaitersTest {
    @ParameterizedTest
    @FieldSource("exclusive")
    fun holders_anyOneCancelled_areOneAtATime(explored: Explored) =
        explored.run { place ->
            var holders = 0
            repeat(CALLERS) {
                launch(CoroutineName("caller $it")) {
                    place.waitHere()
                    hold(place) {
                        check(++holders == 1) { "$holders holders" }
                        try {
                            yield()
                        } finally {
                            holders--
                        }
                    }
                }
            }
            place.grant()
            afterwards { place.assertIdle(holders = 0) }
        }

    @ParameterizedTest
    @FieldSource("exclusive")
    fun waiters_anyOneCancelled_areServedInTheOrderTheyCame(explored: Explored) =
        explored.run { place ->
            val served = mutableListOf<Int>()
            val callers = mutableListOf<Job>()
            repeat(CALLERS) {
                callers +=
                    launch(CoroutineName("caller $it")) {
                        place.waitHere()
                        hold(place) { served += it }
                    }
                delay(1.milliseconds) // Time goes on when all wait.
            }
            place.grant()
            afterwards {
                assertEquals(callers.indices.filter { !callers[it].isCancelled || it in served }, served)
                place.assertIdle(holders = 0)
            }
        }

    @ParameterizedTest
    @FieldSource("exclusive")
    fun timed_grantedAtTheDeadline_holdOrHaveGivenUp(explored: Explored) =
        explored.run { place ->
            var holders = 0
            repeat(CALLERS) {
                launch(CoroutineName("caller $it")) {
                    if (!place.waitHere(10.milliseconds)) return@launch
                    hold(place) {
                        check(++holders == 1) { "$holders holders" }
                        try {
                            yield()
                        } finally {
                            holders--
                        }
                    }
                }
            }
            delay(10.milliseconds)
            place.grant()
            afterwards { place.assertIdle(holders = 0) }
        }

    @ParameterizedTest
    @FieldSource("closeable")
    fun close_meanwhile_callersHoldOrFail(explored: Explored) =
        explored.run { place ->
            repeat(CALLERS) {
                launch(CoroutineName("caller $it")) {
                    try {
                        place.waitHere()
                    } catch (_: SemaphoreClosedException) {
                        return@launch
                    }
                    hold(place) { yield() }
                }
            }
            launch(CoroutineName("closer")) { place.close(null) }
            place.grant()
            afterwards { place.assertIdle(holders = 0) }
        }

    @ParameterizedTest
    @FieldSource("shared")
    fun readers_anyOneCancelled_leaveTheLockFree(explored: Explored) =
        explored.run { place ->
            repeat(CALLERS) {
                launch(CoroutineName("reader $it")) {
                    place.waitHere()
                    hold(place) { yield() }
                }
            }
            place.grant()
            afterwards { place.assertIdle(holders = 0) }
        }

    @ParameterizedTest
    @FieldSource("opened")
    fun open_anyOneCancelled_servesAllOthers(explored: Explored) =
        explored.run { place ->
            val served = HashSet<Int>()
            val callers =
                List(CALLERS) {
                    launch(CoroutineName("caller $it")) {
                        place.waitHere()
                        served += it
                    }
                }
            place.grant()
            afterwards {
                // One that is cancelled before a call that need not wait may be served, too.
                assertEquals(emptyList<Int>(), callers.indices.filter { !callers[it].isCancelled && it !in served })
                place.assertIdle(holders = served.size)
            }
        }

    @ParameterizedTest
    @FieldSource("signalled")
    fun signal_anyOneCancelled_servesAnother(explored: Explored) =
        explored.run { place ->
            var served = 0
            val callers =
                List(CALLERS) {
                    launch(CoroutineName("caller $it")) {
                        place.waitHere()
                        served++
                    }
                }
            for (round in 1..CALLERS) {
                delay(1.seconds) // Time goes on when all wait.
                val before = served
                val waiting = callers.count { it.isActive }
                assertEquals(waiting, place.waiting)
                if (waiting == 0) break
                place.grant()
                delay(1.seconds)
                if (served == before) assertEquals(0, callers.count { it.isActive })
            }
            callers.joinAll()
            place.assertIdle(holders = served)
        }

    private inline fun hold(place: WaitingPlace, block: () -> Unit) =
        try {
            block()
        } finally {
            place.grant()
        }

    private companion object {
        const val CALLERS = 3

        @JvmField val exclusive = explored(semaphores + mutexes + locks) { !grantsAll }

        @JvmField val closeable = explored(semaphores) { closed != null }

        @JvmField val shared = explored(locks) { grantsAll }

        @JvmField
        val opened = explored(listOf(KotlinLatchTest(), MixedLatchTest(), KotlinWaitGroupTest(), MixedWaitGroupTest()))

        @JvmField val signalled = explored(listOf(KotlinConditionTest(), smallBarrier, ChannelWaiterTest()))
    }
}
