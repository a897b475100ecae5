package baton.waiting

import baton.sync.Mutex
import baton.sync.Semaphore
import baton.sync.WaitOrder
import java.util.concurrent.CompletableFuture
import java.util.concurrent.CountDownLatch
import java.util.concurrent.Executor
import java.util.concurrent.ExecutorService
import java.util.concurrent.Executors
import java.util.concurrent.TimeUnit.SECONDS
import kotlin.coroutines.Continuation
import kotlin.coroutines.CoroutineContext
import kotlin.coroutines.EmptyCoroutineContext
import kotlin.coroutines.startCoroutine
import kotlin.time.Duration.Companion.milliseconds
import kotlinx.coroutines.CoroutineDispatcher
import kotlinx.coroutines.CoroutineScope
import kotlinx.coroutines.CoroutineStart
import kotlinx.coroutines.Dispatchers
import kotlinx.coroutines.asCoroutineDispatcher
import kotlinx.coroutines.launch
import kotlinx.coroutines.runBlocking
import kotlinx.coroutines.selects.select
import kotlinx.coroutines.test.advanceTimeBy
import kotlinx.coroutines.test.runTest
import kotlinx.coroutines.withTimeout
import kotlinx.coroutines.withTimeoutOrNull
import org.junit.jupiter.api.AfterEach
import org.junit.jupiter.api.Assertions.assertFalse
import org.junit.jupiter.api.Assertions.assertSame
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.api.Test
import org.junit.jupiter.params.ParameterizedTest
import org.junit.jupiter.params.provider.EnumSource

/**
 * A timeout withdraws a request for two permits, of which one is free, and so grants the request behind it. The granted
 * request has no dispatcher: its code runs where the timeout's consequences run.
 */
class TimeoutThreadTest {
    private val executor = Executors.newSingleThreadExecutor()
    private val semaphore = Semaphore(2, acquired = 1)
    private val granted = CompletableFuture<Thread>()

    @AfterEach
    fun shutDown() {
        executor.shutdownNow()
    }

    enum class Where(val dispatcher: (ExecutorService) -> CoroutineDispatcher) {
        EXECUTOR({ it.asCoroutineDispatcher() }),
        LIMITED_VIEW({ Dispatchers.Default.limitedParallelism(1) }),
        LIMITED_VIEW_OF_EXECUTOR({ it.asCoroutineDispatcher().limitedParallelism(1) }),
        DEFAULT({ Dispatchers.Default }),
    }

    @ParameterizedTest
    @EnumSource
    fun timeout_onAnyDispatcher_grantsOthersOffKotlinxTimer(where: Where) {
        heavyRequest(where.dispatcher(executor))
        requestBehindIt()
        assertOffTimers(granted.get(120, SECONDS))
    }

    private fun assertOffTimers(thread: Thread) {
        assertFalse(thread.name.startsWith("kotlinx.coroutines.DefaultExecutor"), thread.name)
        assertFalse(thread.name.startsWith("baton-timer"), thread.name)
    }

    @Test
    fun timeout_onAnExecutorWhoseThreadIsBlocked_grantsOthers() {
        heavyRequest(executor.asCoroutineDispatcher())
        executor.execute { granted.get(120, SECONDS) }
        requestBehindIt()
        granted.get(120, SECONDS)
    }

    @Test
    fun timeout_whileATimedOutOneBlocks_isNotHeldUp() {
        val dispatcher = executor.asCoroutineDispatcher()
        val end = CountDownLatch(1)
        val blocked = CountDownLatch(1)
        heavyRequest(dispatcher)
        suspend { semaphore.acquire() }
            .startCoroutine(
                Continuation(EmptyCoroutineContext) {
                    blocked.countDown()
                    end.await(120, SECONDS)
                }
            )
        assertTrue(blocked.await(120, SECONDS))
        val other = CompletableFuture<Boolean>()
        CoroutineScope(dispatcher).launch { other.complete(Mutex(locked = true).tryLock(1.milliseconds)) }
        assertFalse(other.get(120, SECONDS))
        end.countDown()
    }

    @Test
    fun timeout_inVirtualTime_grantsOthersOnTheTestsThreadAtOnce() = runTest {
        launch(start = CoroutineStart.UNDISPATCHED) { semaphore.tryAcquire(2, 50.milliseconds) }
        requestBehindIt()
        advanceTimeBy(51.milliseconds)
        assertSame(Thread.currentThread(), granted.getNow(null))
    }

    @Test
    fun timeout_inRunBlocking_grantsOthersOffKotlinxTimer() {
        runBlocking {
            launch(start = CoroutineStart.UNDISPATCHED) { semaphore.tryAcquire(2, 5.milliseconds) }
            requestBehindIt()
        }
        assertOffTimers(granted.get(120, SECONDS))
    }

    enum class Behind(val context: CoroutineContext) {
        NO_DISPATCHER(EmptyCoroutineContext),
        UNCONFINED(Dispatchers.Unconfined),
        IN_PLACE(Executor { it.run() }.asCoroutineDispatcher()),
    }

    @ParameterizedTest
    @EnumSource
    fun withTimeout_onAnExecutor_grantsAnyCoroutineOffKotlinxTimer(behind: Behind) {
        CoroutineScope(executor.asCoroutineDispatcher()).launch(start = CoroutineStart.UNDISPATCHED) {
            withTimeout(50.milliseconds) { semaphore.acquire(2) }
        }
        requestBehindIt(behind.context)
        assertOffTimers(granted.get(120, SECONDS))
    }

    @Test
    fun withTimeout_ofASelectOnAnExecutor_grantsOthersOffKotlinxTimer() {
        CoroutineScope(executor.asCoroutineDispatcher()).launch(start = CoroutineStart.UNDISPATCHED) {
            withTimeout(50.milliseconds) { select { semaphore.onAcquire(2) {} } }
        }
        requestBehindIt()
        assertOffTimers(granted.get(120, SECONDS))
    }

    @ParameterizedTest
    @EnumSource(names = ["NO_DISPATCHER", "UNCONFINED"])
    fun withTimeout_onNoOtherThread_resumesItsCoroutineOffKotlinxTimer(where: Behind) {
        val resumed = CompletableFuture<Thread>()
        suspend { withTimeoutOrNull(50.milliseconds) { semaphore.acquire(2) } }
            .startCoroutine(Continuation(where.context) { resumed.complete(Thread.currentThread()) })
        assertOffTimers(resumed.get(120, SECONDS))
    }

    private fun heavyRequest(dispatcher: CoroutineDispatcher) {
        CoroutineScope(dispatcher).launch(start = CoroutineStart.UNDISPATCHED) {
            semaphore.tryAcquire(2, 50.milliseconds)
        }
    }

    @ParameterizedTest
    @EnumSource
    fun withTimeout_ofTheHeadOfAnUnfairSemaphore_invitesAnyCoroutineOffKotlinxTimer(behind: Behind) {
        val unfair = Semaphore(2, acquired = 2, order = WaitOrder.UNFAIR)
        CoroutineScope(executor.asCoroutineDispatcher()).launch(start = CoroutineStart.UNDISPATCHED) {
            withTimeout(50.milliseconds) { unfair.acquire(2) }
        }
        requestBehindIt(behind.context, unfair)
        unfair.release()
        assertOffTimers(granted.get(120, SECONDS))
    }

    private fun requestBehindIt(
        context: CoroutineContext = EmptyCoroutineContext,
        semaphore: Semaphore = this.semaphore,
    ) {
        suspend { semaphore.acquire() }
            .startCoroutine(Continuation(context) { granted.complete(Thread.currentThread()) })
    }
}
