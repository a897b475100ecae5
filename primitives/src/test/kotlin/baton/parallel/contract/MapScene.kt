package baton.parallel.contract

import kotlinx.coroutines.test.TestScope
import kotlinx.coroutines.test.currentTime
import kotlinx.coroutines.test.runTest
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.api.assertThrows

/** The common part of the topics of the contract. */
interface MapFixture {
    val face: MapFace

    fun scene(test: suspend MapScene.() -> Unit) = runTest {
        val scene = MapScene(face, this)
        scene.test()
        scene.assertAllEnded()
    }
}

/** One call in virtual time, and the counts of its elements. For one thread. */
class MapScene(face: MapFace, val test: TestScope) : MapFace by face {
    private var running = 0

    var pulled = 0
        private set

    var started = 0
        private set

    /** The most weight in flight. */
    var peak = 0
        private set

    val now: Long
        get() = test.currentTime

    /** 0, 1, 2 and so on, without end. */
    val numbers: Sequence<Int> = generateSequence(0) { it + 1 }.counted()

    fun numbers(count: Int): Sequence<Int> = numbers.take(count)

    fun <T> Sequence<T>.counted(): Sequence<T> = onEach { pulled++ }

    /** Runs the [block] of an element. */
    suspend fun <R> work(weight: Int = 1, block: suspend () -> R): R {
        started++
        running += weight
        peak = maxOf(peak, running)
        try {
            return block()
        } finally {
            running -= weight
        }
    }

    suspend fun failureOf(call: suspend MapScene.() -> Unit): Throwable =
        assertThrows<Throwable> { call() }.also { assertAllEnded() }

    fun assertAllEnded() = assertEquals(0, running, "elements that still run")

    fun assertPulled(atLeast: Int, places: Int = 0) {
        assertTrue(pulled in atLeast..atLeast + places + ahead) { "$pulled were pulled" }
    }
}
