package baton.tasks

import baton.hostile.HostileDispatcher
import baton.hostile.HostileWorld
import baton.hostile.Hostility
import java.util.concurrent.TimeUnit
import java.util.concurrent.atomic.AtomicInteger
import kotlinx.coroutines.CompletableDeferred
import kotlinx.coroutines.CoroutineExceptionHandler
import kotlinx.coroutines.CoroutineScope
import kotlinx.coroutines.SupervisorJob
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.params.ParameterizedTest
import org.junit.jupiter.params.provider.Arguments
import org.junit.jupiter.params.provider.MethodSource

/**
 * A chain of tasks on a dispatcher with a fault, begun before it is hostile: all of them end, no block or teardown runs
 * twice, and a teardown runs if and only if its task ends without a value. Tasks wait by kotlinx's own coroutines. So
 * the test has only faults that kotlinx endures, and no dispatcher that throws by itself or drops.
 */
class TaskHostilityTest {
    private inner class Chain(hostility: Hostility, world: HostileWorld) {
        val dispatcher = HostileDispatcher(hostility).also { it.isHostile = false }
        val gate = CompletableDeferred<Int>()
        val blocks = AtomicInteger()
        val teardowns = AtomicInteger()

        /** It hears of second runs, which kotlinx finds where assertions are on. */
        private val uncaught = CoroutineExceptionHandler { _, _ -> }
        private val scope = CoroutineScope(world.contextOf(dispatcher) + SupervisorJob() + uncaught)

        val source =
            scope.cancellableTask {
                onTeardown { teardowns.incrementAndGet() }
                blocks.incrementAndGet()
                gate.await()
            }

        val last =
            source
                .then { value ->
                    onTeardown { teardowns.incrementAndGet() }
                    blocks.incrementAndGet()
                    value + 1
                }
                .thenCompose { value ->
                    blocks.incrementAndGet()
                    scope.cancellableTask { value + 1 }
                }

        init {
            dispatcher.run()
            dispatcher.isHostile = true
        }

        fun awaitEnds() {
            val deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(120)
            while (!last.isCompleted || !source.isCompleted) {
                if (!dispatcher.step()) Thread.onSpinWait()
                assertTrue(System.nanoTime() < deadline) { "still not done: $source, $last" }
            }
            dispatcher.run()
        }
    }

    @ParameterizedTest
    @MethodSource("cases")
    fun chain_sourceCompletes_endsWithoutRunningAnythingTwice(hostility: Hostility, world: HostileWorld) {
        val chain = Chain(hostility, world)
        chain.gate.complete(40)
        chain.awaitEnds()
        if (chain.last.isCancelled) {
            assertTrue(hostility.throws)
            assertTrue(chain.blocks.get() <= 3 && chain.teardowns.get() <= 2, "${chain.blocks} ${chain.teardowns}")
        } else {
            assertEquals(42, chain.last.getCompleted())
            assertEquals("3 0", "${chain.blocks} ${chain.teardowns}")
        }
        assertEquals(chain.source.isCancelled, chain.teardowns.get() > 0)
    }

    @ParameterizedTest
    @MethodSource("cases")
    fun chain_lastIsCancelled_sourceIsTornDownOnce(hostility: Hostility, world: HostileWorld) {
        val chain = Chain(hostility, world)
        chain.last.cancel()
        chain.awaitEnds()
        assertTrue(chain.source.isCancelled && chain.last.isCancelled)
        assertEquals("1 1", "${chain.blocks} ${chain.teardowns}")
    }

    private companion object {
        @JvmStatic
        fun cases(): List<Arguments> {
            val harmless = listOf(Hostility.RUNS_IN_PLACE, Hostility.RANDOM_ORDER, Hostility.RUNS_TWICE)
            return harmless.map { Arguments.of(it, HostileWorld.DISPATCHER) } +
                (harmless + Hostility.THROWS + Hostility.SHUTS_DOWN).map { Arguments.of(it, HostileWorld.EXECUTOR) }
        }
    }
}
