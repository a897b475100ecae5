package baton.hostile

import java.util.concurrent.RejectedExecutionException
import kotlin.reflect.KClass
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertNotEquals
import org.junit.jupiter.api.Test
import org.junit.jupiter.api.assertThrows
import org.junit.jupiter.params.ParameterizedTest
import org.junit.jupiter.params.provider.EnumSource

/** The helper shows the faults it was created with, and none before it is hostile. */
class HostileDispatcherTest {
    private val ran = mutableListOf<Int>()

    private fun dispatcher(hostility: Hostility, seed: Long = 1) = HostileDispatcher(hostility, seed = seed)

    private fun HostileDispatcher.give(vararg tasks: Int) {
        for (task in tasks) execute { ran += task }
    }

    @ParameterizedTest
    @EnumSource
    fun execute_notHostile_queuesAndRunsInOrder(hostility: Hostility) {
        val dispatcher = dispatcher(hostility).also { it.isHostile = false }
        dispatcher.give(1, 2, 3)
        assertEquals(emptyList<Int>(), ran)
        dispatcher.run()
        assertEquals(listOf(1, 2, 3), ran)
    }

    @Test
    fun execute_hostile_queuesRunsAndThrowsAsItsFaultSays() {
        val refused = RejectedExecutionException::class
        val faults =
            listOf<Triple<Hostility, KClass<*>?, List<Int>>>(
                Triple(Hostility.QUEUES_AND_THROWS, OutOfMemoryError::class, listOf(1)),
                Triple(Hostility.THROWS, refused, emptyList()),
                Triple(Hostility.DROPS, null, emptyList()),
                Triple(Hostility.RUNS_TWICE, null, listOf(1, 1)),
                Triple(Hostility.SHUTS_DOWN, null, listOf(1)),
            )
        for ((fault, thrown, expected) in faults) {
            ran.clear()
            val dispatcher = dispatcher(fault)
            assertEquals(thrown, runCatching { dispatcher.give(1) }.exceptionOrNull()?.let { it::class }, "$fault")
            assertEquals(emptyList<Int>(), ran)
            dispatcher.run()
            assertEquals(expected, ran, "$fault")
            assertEquals(if (fault == Hostility.DROPS) 1 else 0, dispatcher.dropped)
        }
    }

    @Test
    fun execute_runsInPlace_hasRunWhenItReturns() {
        dispatcher(Hostility.RUNS_IN_PLACE).give(1)
        assertEquals(listOf(1), ran)
    }

    @Test
    fun execute_runsTwice_secondRunComesLast() {
        val dispatcher = dispatcher(Hostility.RUNS_TWICE)
        dispatcher.give(1, 2)
        dispatcher.step()
        dispatcher.give(3)
        dispatcher.run()
        assertEquals(listOf(1, 2, 3, 1, 2, 3), ran)
    }

    @Test
    fun execute_randomOrder_isThatOfTheSeed() {
        val tasks = IntArray(100) { it }
        val orders =
            listOf(1L, 1L, 2L).map { seed ->
                ran.clear()
                dispatcher(Hostility.RANDOM_ORDER, seed).also { it.give(*tasks) }.run()
                ran.toList()
            }
        assertEquals(orders[0], orders[1])
        assertNotEquals(orders[0], orders[2])
        for (order in orders) assertEquals(tasks.toList(), order.sorted())
    }

    @Test
    fun execute_shutsDown_takesTheFirstTwo() {
        val dispatcher = dispatcher(Hostility.SHUTS_DOWN)
        dispatcher.give(1, 2)
        repeat(2) { assertThrows<RejectedExecutionException> { dispatcher.give(3) } }
        dispatcher.run()
        assertEquals(listOf(1, 2), ran)
    }
}
