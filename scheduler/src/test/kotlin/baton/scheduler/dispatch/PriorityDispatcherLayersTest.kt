package baton.scheduler.dispatch

import baton.Priority
import baton.scheduler.prioritized
import java.util.concurrent.ConcurrentLinkedQueue
import java.util.concurrent.CountDownLatch
import java.util.concurrent.ExecutorService
import java.util.concurrent.Executors
import java.util.concurrent.TimeUnit
import java.util.concurrent.atomic.AtomicInteger
import java.util.stream.Stream
import kotlin.coroutines.ContinuationInterceptor
import kotlinx.coroutines.CoroutineDispatcher
import kotlinx.coroutines.Dispatchers
import kotlinx.coroutines.asCoroutineDispatcher
import kotlinx.coroutines.joinAll
import kotlinx.coroutines.launch
import kotlinx.coroutines.runBlocking
import kotlinx.coroutines.withTimeout
import kotlinx.coroutines.yield
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.api.Tag
import org.junit.jupiter.api.Test
import org.junit.jupiter.params.ParameterizedTest
import org.junit.jupiter.params.provider.MethodSource

/** Levels over every kind of dispatcher with threads; PriorityDispatcherTest covers virtual time. */
@Tag("jdk")
class PriorityDispatcherLayersTest {
    /** A kind of dispatcher, and how to shut it down. */
    class Layer(private val name: String, val pool: ExecutorService?, val dispatcher: CoroutineDispatcher) {
        override fun toString() = name
    }

    @ParameterizedTest
    @MethodSource("layers")
    fun blocks_queued_runByLevelWithinTheBound(layer: Layer) {
        val order = ConcurrentLinkedQueue<Priority>()
        val prioritized = layer.dispatcher.prioritized(1)
        val begun = CountDownLatch(1)
        val go = CountDownLatch(1)
        val running = AtomicInteger()
        runBlocking {
            val first =
                launch(prioritized) {
                    begun.countDown()
                    go.await()
                }
            assertTrue(begun.await(120, TimeUnit.SECONDS))
            val jobs =
                Priority.entries.reversed().flatMap { level ->
                    List(20) {
                        launch(prioritized + level) {
                            assertEquals(1, running.incrementAndGet())
                            order += level
                            running.decrementAndGet()
                            yield()
                        }
                    }
                }
            go.countDown()
            withTimeout(120_000) { (jobs + first).joinAll() }
        }
        assertEquals(Priority.entries.flatMap { level -> List(20) { level } }, order.toList())
        layer.pool?.shutdown()
    }

    @Test
    fun runBlocking_eventLoop_runsByLevel() = runBlocking {
        val loop = coroutineContext[ContinuationInterceptor] as CoroutineDispatcher
        val prioritized = loop.prioritized(1)
        val order = ArrayList<Priority>()
        val mixed = listOf(Priority.LOW, Priority.CRITICAL, Priority.IDLE, Priority.HIGH, Priority.NORMAL)
        mixed.map { level -> launch(prioritized + level) { order += level } }.joinAll()
        assertEquals(Priority.entries, order)
    }

    companion object {
        @JvmStatic
        fun layers(): Stream<Layer> {
            val fixed = Executors.newFixedThreadPool(2)
            return Stream.of(
                    Layer("Default", null, Dispatchers.Default),
                    Layer("IO", null, Dispatchers.IO),
                    Layer("limited", null, Dispatchers.Default.limitedParallelism(2)),
                    Layer("fixed pool", fixed, fixed.asCoroutineDispatcher()),
                    virtualThreads(),
                )
                .filter { it != null }
                .map { it!! }
        }

        /** Since JDK 21. */
        private fun virtualThreads(): Layer? {
            val factory = runCatching { Executors::class.java.getMethod("newVirtualThreadPerTaskExecutor") }
            val pool = factory.getOrNull()?.invoke(null) as ExecutorService? ?: return null
            return Layer("virtual threads", pool, pool.asCoroutineDispatcher())
        }
    }
}
