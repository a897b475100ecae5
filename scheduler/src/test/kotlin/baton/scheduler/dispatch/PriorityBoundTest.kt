package baton.scheduler.dispatch

import baton.Priority
import baton.scheduler.PriorityDispatcher
import baton.scheduler.PriorityPolicy
import baton.scheduler.prioritized
import baton.sync.StepDispatcher
import kotlin.coroutines.EmptyCoroutineContext
import kotlin.random.Random
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.api.Tag
import org.junit.jupiter.params.ParameterizedTest
import org.junit.jupiter.params.provider.CsvSource
import org.junit.jupiter.params.provider.ValueSource

/** The bounds that the policy states, checked at every pick of random loads; the seed determines the load. */
@Tag("jdk")
class PriorityBoundTest {
    private val underlying = StepDispatcher()

    /** One block for each pick, in the order of the picks. */
    private val picks = ArrayList<Int>()

    private fun PriorityDispatcher.add(level: Int) =
        level(RunQueue.LEVELS[level]).dispatch(EmptyCoroutineContext) { picks += level }

    @ParameterizedTest
    @CsvSource("1, 64", "2, 128", "3, 256", "4, 512")
    fun level_underAFlood_isPickedAfterItsBound_criticalGetsTheRest(level: Int, bound: Int) {
        val prioritized = underlying.prioritized(1)
        repeat(10 * bound + 10) { prioritized.add(0) }
        repeat(11) { prioritized.add(level) }
        while (underlying.step()) {
            /* runs all queued blocks */
        }
        val positions = picks.indices.filter { picks[it] == level }
        assertEquals(List(10) { it * (bound + 1) + bound }, positions.take(10))
    }

    @ParameterizedTest
    @ValueSource(ints = [1, 2, 3, 4, 8])
    fun head_ofEveryLevel_randomLoad_runsWithinItsBound_forAnyParallelism(parallelism: Int) =
        assertBounds(parallelism, factor = 1) { it to null }

    @ParameterizedTest
    @CsvSource("1, 1", "2, 1", "2, 2", "4, 3")
    fun view_randomLoad_passesEveryHeadOverWithinItsBound_forAnyParallelism(parallelism: Int, ofView: Int) =
        assertBounds(parallelism, factor = 1) { it.limitedParallelism(ofView, "view") to it }

    /** The inner view may have its parallelism of slots at a level, ahead of the outer view's own head. */
    @ParameterizedTest
    @CsvSource("1, 1, 1", "1, 2, 1", "2, 2, 2", "2, 3, 2")
    fun view_withAViewOfIt_passesItsOwnBlocksOverWithinItsBoundForEachWorkerOfThat(
        parallelism: Int,
        ofOuter: Int,
        ofInner: Int,
    ) =
        assertBounds(parallelism, factor = ofInner + 1) {
            val outer = it.limitedParallelism(ofOuter, "outer")
            outer to outer.limitedParallelism(ofInner, "inner")
        }

    /**
     * Loads the first dispatcher of [views] at random, and the second one beside it: the first passes the head of no
     * level over more than [factor] times its bound.
     */
    private fun assertBounds(
        parallelism: Int,
        factor: Int,
        views: (PriorityDispatcher) -> Pair<PriorityDispatcher, PriorityDispatcher?>,
    ) {
        for (seed in 0 until SEEDS) {
            val random = Random(seed)
            val bounds = IntArray(5) { if (it == 0) Int.MAX_VALUE else random.nextInt(3, 12) }
            val policy = PriorityPolicy.Bounded(bounds[1], bounds[2], bounds[3], bounds[4])
            val prioritized = underlying.prioritized(parallelism, policy = policy, quantum = random.nextInt(1, 20))
            val (loaded, other) = views(prioritized)
            var ran = 0
            val beside = { level: Int ->
                other?.level(RunQueue.LEVELS[level])?.dispatch(EmptyCoroutineContext) { ran++ }
                Unit
            }
            val waits = passOver(random, loaded, beside.takeIf { other != null })
            for (level in 1..4) {
                assertTrue(waits.longest[level] <= factor * bounds[level]) {
                    "seed $seed: a head of level $level was passed over ${waits.longest[level]} times, bounds $bounds"
                }
            }
            while (underlying.step()) {
                /* workers without work, and the blocks beside */
            }
            for (dispatcher in listOfNotNull(prioritized, loaded, other)) assertEquals(0, dispatcher.metrics.workers)
            assertEquals(other != null, ran > 0)
        }
    }

    /**
     * A LOW block of the inner view has a slot at LOW in the outer view, while CRITICAL slots are added and picked.
     * However many there are, that slot is passed over up to its bound once, and then the LOW block of the outer view.
     */
    @ParameterizedTest
    @ValueSource(ints = [0, 1, 5, 60, 200])
    fun viewOfAView_anySlotsQueued_keepsTheBoundsOfItsParent(urgent: Int) {
        val outer = underlying.prioritized(1).limitedParallelism(1, "outer")
        val inner = outer.limitedParallelism(1, "inner")
        val bound = PriorityPolicy.Bounded().of(Priority.LOW)
        var sent = 0
        var low = -1
        fun flood() {
            picks += 0
            if (sent++ < urgent) inner.add(0)
            if (sent == urgent + 1) outer.level(Priority.LOW).dispatch(EmptyCoroutineContext) { low = picks.size }
            if (low < 0 && picks.size < 100 * bound) {
                outer.level(Priority.CRITICAL).dispatch(EmptyCoroutineContext, ::flood)
            }
        }
        inner.add(3)
        outer.level(Priority.CRITICAL).dispatch(EmptyCoroutineContext, ::flood)
        while (underlying.step()) {
            /* runs all queued blocks */
        }
        assertTrue(low - 2 * urgent in 0..2 * bound + 2) { "LOW waited for $low picks" }
    }

    /**
     * Dispatches random blocks on [view] until all have run, and returns how often its heads were passed over. [beside]
     * dispatches blocks elsewhere, so that a view's slots are picked late and in another order.
     */
    private fun passOver(random: Random, view: PriorityDispatcher, beside: ((level: Int) -> Unit)? = null): Waits {
        val waits = Waits()
        val load = IntArray(5) { random.nextInt(0, 4) }
        var added = 0
        var seen = 0
        picks.clear()
        while (added < BLOCKS || picks.size < added) {
            if (added < BLOCKS && (random.nextBoolean() || picks.size == added)) {
                val level = pick(random, load)
                waits.added(level)
                view.add(level)
                added++
                if (beside != null && random.nextBoolean()) beside(pick(random, load))
            } else {
                underlying.step()
            }
            while (seen < picks.size) waits.picked(picks[seen++])
        }
        return waits
    }

    private fun pick(random: Random, load: IntArray): Int {
        val total = load.sum() + 5
        var at = random.nextInt(total)
        for (level in 0..4) {
            at -= load[level] + 1
            if (at < 0) return level
        }
        error("unreachable")
    }

    /** How often the head of each level has been passed over. */
    private class Waits {
        private val waiting = IntArray(5)
        private val passed = IntArray(5)
        val longest = IntArray(5)

        fun added(level: Int) {
            waiting[level]++
        }

        fun picked(level: Int) {
            waiting[level]--
            for (other in 0..4) {
                passed[other] = if (other == level || waiting[other] == 0) 0 else passed[other] + 1
                longest[other] = maxOf(longest[other], passed[other])
            }
        }
    }

    @ParameterizedTest
    @ValueSource(ints = [1, 2, 4])
    fun shares_ofPicks_matchTheWeights(parallelism: Int) {
        val weights = intArrayOf(1000, 400, 100, 40, 10)
        val prioritized = underlying.prioritized(parallelism, policy = PriorityPolicy.Shares())
        repeat(31_000) { for (level in 0..4) prioritized.add(level) }
        while (picks.size < 15_500) underlying.step()
        for (level in 0..4) {
            val share = picks.take(15_500).count { it == level }
            assertTrue(share in weights[level] * 10 - 16..weights[level] * 10 + 16) { "level $level: $share" }
        }
    }

    private companion object {
        const val SEEDS = 300
        const val BLOCKS = 400
    }
}
