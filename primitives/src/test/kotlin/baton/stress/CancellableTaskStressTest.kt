package baton.stress

import baton.tasks.CancellableTask
import baton.tasks.CancellableTaskScope
import baton.tasks.cancellableTask
import java.io.IOException
import java.util.concurrent.ConcurrentLinkedQueue
import java.util.concurrent.ThreadLocalRandom
import java.util.concurrent.atomic.AtomicInteger
import kotlin.time.Duration.Companion.microseconds
import kotlinx.coroutines.CancellationException
import kotlinx.coroutines.CompletableDeferred
import kotlinx.coroutines.CoroutineExceptionHandler
import kotlinx.coroutines.CoroutineScope
import kotlinx.coroutines.CoroutineStart
import kotlinx.coroutines.Dispatchers
import kotlinx.coroutines.SupervisorJob
import kotlinx.coroutines.awaitCancellation
import kotlinx.coroutines.cancel
import kotlinx.coroutines.cancelAndJoin
import kotlinx.coroutines.delay
import kotlinx.coroutines.joinAll
import kotlinx.coroutines.launch
import kotlinx.coroutines.runBlocking
import kotlinx.coroutines.yield
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertFalse
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.api.Test

open class CancellableTaskStressTest {
    protected open val rounds
        get() = 1_000

    private val watchdog = Watchdog()
    private val silent = CoroutineExceptionHandler { _, _ -> }
    private val random
        get() = ThreadLocalRandom.current()

    /** Runs each round in a scope of its own, which has ended when the checks that [block] returns are made. */
    private fun stress(block: suspend CoroutineScope.() -> (() -> Unit)) =
        watchdog.run({ "" }) {
            runBlocking(Dispatchers.Default) {
                repeat(rounds) {
                    val job = SupervisorJob()
                    val scope = CoroutineScope(coroutineContext + job + silent)
                    val check = scope.block()
                    job.complete()
                    job.join()
                    check()
                    watchdog.progress()
                }
            }
        }

    private suspend fun pause() =
        when (random.nextInt(4)) {
            0 -> yield()
            1 -> repeat(random.nextInt(100)) { Thread.onSpinWait() }
            2 -> if (random.nextInt(20) == 0) delay(random.nextLong(100).microseconds) else yield()
            else -> {}
        }

    private fun start() = CoroutineStart.entries.random()

    @Test
    fun teardowns_underCancelRegistrationAndTheEnd_runOnceIfThereIsNoValueElseNever() = stress {
        val runs = ConcurrentLinkedQueue<AtomicInteger>()
        val running = AtomicInteger()
        val overlaps = AtomicInteger()

        fun CancellableTaskScope.register(late: Boolean) {
            val ran = AtomicInteger()
            onTeardown {
                // A late one runs by itself: the others are done, or about to be.
                if (!late && running.incrementAndGet() > 1) overlaps.incrementAndGet()
                pause()
                if (ran.incrementAndGet() == 1 && random.nextInt(8) == 0) register(late)
                if (!late) running.decrementAndGet()
                if (random.nextInt(8) == 0) throw IOException()
            }
            runs += ran
        }
        val face = CompletableDeferred<CancellableTaskScope>()
        val task =
            cancellableTask(start = start()) {
                face.complete(this)
                repeat(random.nextInt(3)) {
                    register(late = false)
                    pause()
                }
                launch {
                    pause()
                    if (random.nextInt(8) == 0) throw IOException()
                }
                if (random.nextInt(8) == 0) throw IOException()
                42
            }
        task.invokeOnCompletion { face.cancel() }
        launch {
            val scope = face.await()
            pause()
            scope.register(late = true)
        }
        launch {
            pause()
            task.cancel()
        }
        task.start();
        {
            val once = if (task.isCancelled) 1 else 0
            assertTrue(task.isCompleted)
            for (ran in runs) assertEquals(once, ran.get(), "$task")
            assertEquals(0, overlaps.get())
        }
    }

    @Test
    fun isCancelled_whileItEnds_neverComesBeforeAValue() = stress {
        val task = cancellableTask(start = CoroutineStart.entries.random()) { pause() }
        val seen = CompletableDeferred<Boolean>()
        launch {
            pause()
            task.cancel()
            seen.complete(task.isCancelled)
        }
        val watched = AtomicInteger()
        launch { while (!task.isCompleted) if (task.isCancelled) watched.incrementAndGet() }
        task.start();
        {
            assertEquals(task.getCompletionExceptionOrNull() != null, task.isCancelled)
            assertEquals(task.isCancelled, seen.getCompleted())
            if (watched.get() > 0) assertTrue(task.isCancelled)
        }
    }

    private fun <T> CancellableTask<T>.derive(): CancellableTask<T> =
        if (random.nextBoolean()) then { it } else thenCompose { value -> then { value } }

    @Test
    fun consumers_allCancelledInAnyOrder_sourceEndsAndIsTornDownBeforeThem() = stress {
        val tornDown = AtomicInteger()
        val source =
            cancellableTask(start = CoroutineStart.UNDISPATCHED) {
                onTeardown {
                    pause()
                    tornDown.incrementAndGet()
                }
                CompletableDeferred<Unit>().await()
            }
        // Before any is cancelled: the first of them holds it for the others.
        val consumers = List(3) { source.derive().derive() }
        consumers
            .map { consumer ->
                launch {
                    pause()
                    consumer.cancel()
                }
            }
            .joinAll()
        source.join();
        {
            assertEquals(1, tornDown.get())
            for (task in consumers + source) assertTrue(task.isCancelled)
        }
    }

    @Test
    fun source_othersCancelWhileOneConsumerStays_continues() = stress {
        val gate = CompletableDeferred<Int>()
        val source = cancellableTask {
            onTeardown { error("torn down") }
            gate.await()
        }
        val kept = source.derive()
        List(3) {
                launch {
                    val consumer = source.derive()
                    pause()
                    consumer.cancelAndJoin()
                }
            }
            .joinAll()
        assertFalse(source.isCancelled)
        gate.complete(42);
        { assertEquals(42, kept.getCompleted()) }
    }

    /** The last of a chain may find itself cancelled just when its canceller does. */
    @Test
    fun chain_cancelledWhileItBegins_isCancelledToItsSourceWhenCancelReturns() = stress {
        val source = cancellableTask<Unit> { awaitCancellation() }
        var last: CancellableTask<Unit> = source
        repeat(10) { last = last.derive() }
        pause()
        last.cancel("over")
        assertTrue(source.isCancelled);
        { assertEquals("over", (source.getCompletionExceptionOrNull() as CancellationException).message) }
    }

    /**
     * The scope may end before all waiters of the task are notified. A thread that sees the scope's end also sees the
     * task's end.
     */
    @Test
    fun end_ofTheScopeSeenWhileTheTaskTellsOfItsOwn_isTheEndOfTheTask() = stress {
        val gate = CompletableDeferred<Int>()
        val task = cancellableTask { gate.await() }
        repeat(3) { task.invokeOnCompletion {} }
        pause()
        if (random.nextBoolean()) task.cancel("over") else gate.complete(42)
        pause();
        {
            assertTrue(task.isCompleted)
            val failure = task.getCompletionExceptionOrNull()
            if (failure == null) assertEquals(42, task.getCompleted()) else assertEquals("over", failure.message)
        }
    }

    /** The last consumer leaves while another comes: the new one is in time and keeps the source, or shares its end. */
    @Test
    fun consumer_comesWhileTheLastGoes_isServedOrCancelled() = stress {
        val gate = CompletableDeferred<Int>()
        val source = cancellableTask { gate.await() }
        val first = source.derive()
        val going = launch {
            pause()
            first.cancel("last")
        }
        val coming = CompletableDeferred<CancellableTask<Int>>()
        launch {
            pause()
            coming.complete(source.derive())
        }
        going.join()
        coming.await()
        gate.complete(42);
        {
            val second = coming.getCompleted()
            assertEquals(source.isCancelled, second.isCancelled)
            if (!second.isCancelled) assertEquals(42, second.getCompleted())
            if (second.isCancelled) {
                assertEquals("last", (second.getCompletionExceptionOrNull() as CancellationException).message)
            }
        }
    }
}

class CancellableTaskDeepTest : CancellableTaskStressTest() {
    override val rounds
        get() = 100_000
}
