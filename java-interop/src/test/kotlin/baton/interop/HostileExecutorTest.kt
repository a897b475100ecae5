package baton.interop

import baton.hostile.Exclusion
import baton.hostile.HostileDispatcher
import baton.hostile.Hostility
import java.util.concurrent.CompletableFuture
import java.util.concurrent.CompletionException
import java.util.concurrent.ConcurrentLinkedQueue
import java.util.concurrent.Executor
import java.util.concurrent.Executors
import java.util.concurrent.Flow
import java.util.concurrent.TimeUnit
import java.util.concurrent.atomic.AtomicInteger
import java.util.function.Consumer
import java.util.function.Supplier
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertFalse
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.api.Test
import org.junit.jupiter.api.assertThrows
import org.junit.jupiter.params.ParameterizedTest
import org.junit.jupiter.params.provider.EnumSource

/**
 * The executors that users pass have a fault. There are never two holders, no action begins twice, no element is lost,
 * and requests with a working executor are served. One promise cannot hold: a future whose completion was dropped keeps
 * its grant until it is cancelled.
 */
class HostileExecutorTest {
    private val mutex = AsyncMutex.create()
    private val held = mutex.lock().join()

    /** An action that ends when the test completes its stage. */
    private inner class Action(private val exclusion: Exclusion) : Supplier<CompletableFuture<Int>> {
        val begun = AtomicInteger()
        val end = CompletableFuture<Int>()

        override fun get(): CompletableFuture<Int> {
            begun.incrementAndGet()
            exclusion.enter()
            return end.whenComplete { _, _ -> exclusion.leave() }
        }
    }

    private fun withLocks(executor: Executor, run: () -> Unit, mayBeLost: Boolean = false) {
        val exclusion = Exclusion(1)
        val actions = List(3) { Action(exclusion) }
        val sane = Action(exclusion)
        val calls = actions.map { mutex.withLock(it, executor) } + mutex.withLock(sane)
        held.close()
        for (action in actions + sane) {
            run()
            // The test delays the end of each action, to detect another action that begins meanwhile.
            action.end.complete(1)
            if (mayBeLost) calls[actions.indexOf(action).coerceAtLeast(0)].cancel(false)
        }
        run()
        exclusion.assertHeld()
        for (action in actions + sane) assertTrue(action.begun.get() <= 1, "begun ${action.begun} times")
        assertTrue(calls.all { it.isDone }, "$calls")
        assertEquals(1, sane.begun.get())
        assertFalse(mutex.isLocked)
    }

    @ParameterizedTest
    @EnumSource
    fun withLock_hostileExecutor_hasOneHolderAtATimeAndGivesTheLockBack(hostility: Hostility) {
        val executor = HostileDispatcher(hostility)
        withLocks(executor, executor::run, mayBeLost = hostility == Hostility.DROPS)
    }

    /** A thread pool queues the task, one of its threads runs it, and then the pool fails to start another thread. */
    @Test
    fun withLock_executorRunsAndThrows_keepsTheLockWhileTheActionRuns() =
        withLocks(
            {
                it.run()
                throw OutOfMemoryError("unable to create native thread")
            },
            run = {},
        )

    @ParameterizedTest
    @EnumSource
    fun lock_hostileExecutor_isGrantedOnceAndInTurn(hostility: Hostility) {
        val executor = HostileDispatcher(hostility)
        val futures = List(3) { mutex.lock(executor) } + mutex.lock()
        held.close()
        for (future in futures) {
            executor.run()
            // A grant whose completion was dropped is still in the future: the cancel completes the future with it.
            if (!future.isDone) future.cancel(false)
            assertTrue(mutex.isLocked)
            assertEquals(futures.indexOf(future) + 1, futures.count { it.isDone })
            future.join().close()
        }
        executor.run()
        assertFalse(mutex.isLocked)
    }

    @ParameterizedTest
    @EnumSource
    fun receive_hostileExecutor_losesNoElement(hostility: Hostility) {
        val executor = HostileDispatcher(hostility)
        val channel = AsyncChannel.create<Int>(0)
        val futures = List(3) { channel.receive(executor) } + channel.receive()
        val sent = List(4) { channel.send(it) }
        executor.run()
        for (future in futures) if (!future.isDone) future.cancel(false)
        assertEquals((0..3).toList(), futures.map { it.join() })
        assertTrue(sent.all { it.isDone })
        assertEquals(0, channel.size())
    }

    @ParameterizedTest
    @EnumSource
    fun forEach_hostileExecutor_receivesEachElementOnceInOrder(hostility: Hostility) {
        val executor = HostileDispatcher(hostility)
        val channel = AsyncChannel.create<Int>(4)
        repeat(4) { channel.send(it).join() }
        channel.close()
        val got = mutableListOf<Int>()
        val end = channel.forEach(got::add, executor)
        executor.run()
        if (end.isCompletedExceptionally) {
            assertTrue(hostility.throws)
            assertThrows<CompletionException> { end.join() }
        }
        assertEquals(got, (0..3).toList().take(got.size))
        assertTrue(hostility.throws || hostility == Hostility.DROPS || got.size == 4, "$got")
    }

    /** Two threads have the signals of one subscription then, unless each runs once. */
    @Test
    fun forEachAndPublisher_executorQueuesAndThrows_signalEachElementOnceInOrder() {
        val pool = Executors.newFixedThreadPool(2)
        val executor = Executor {
            pool.execute(it)
            error("metrics")
        }
        try {
            for (isPublisher in listOf(false, true)) {
                val channel = AsyncChannel.create<Int>(ELEMENTS)
                repeat(ELEMENTS) { channel.send(it).join() }
                channel.close()
                val got = ConcurrentLinkedQueue<Int>()
                val signals = Exclusion(1)
                val take = Consumer { element: Int ->
                    signals.enter()
                    got += element
                    Thread.yield()
                    signals.leave()
                }
                val end =
                    if (isPublisher) SubscriptionEnd(channel.publisher(executor), take)
                    else channel.forEach(take, executor)
                end.get(120, TimeUnit.SECONDS)
                signals.assertHeld()
                assertEquals((0 until ELEMENTS).toList(), got.toList())
            }
        } finally {
            pool.shutdown()
        }
    }

    private class SubscriptionEnd(from: Flow.Publisher<Int>, private val take: Consumer<Int>) :
        CompletableFuture<Void>(), Flow.Subscriber<Int> {
        init {
            from.subscribe(this)
        }

        override fun onSubscribe(subscription: Flow.Subscription) = subscription.request(Long.MAX_VALUE)

        override fun onNext(element: Int) = take.accept(element)

        override fun onError(why: Throwable) {
            completeExceptionally(why)
        }

        override fun onComplete() {
            complete(null)
        }
    }

    @ParameterizedTest
    @EnumSource
    fun supply_hostileExecutor_runsOnceAndIsDone(hostility: Hostility) {
        val executor = HostileDispatcher(hostility)
        val runs = AtomicInteger()
        val futures =
            List(3) { runCatching { CancellableFuture.supply<Int>(executor) { runs.incrementAndGet() } }.getOrNull() }
        executor.run()
        assertTrue(runs.get() <= 3, "run ${runs.get()} times")
        assertTrue(hostility == Hostility.DROPS || futures.all { it == null || it.isDone })
        assertTrue(hostility.throws || hostility == Hostility.DROPS || runs.get() == 3)
    }

    private companion object {
        const val ELEMENTS = 10_000
    }
}
