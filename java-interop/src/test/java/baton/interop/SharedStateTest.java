package baton.interop;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import baton.Priority;
import baton.channels.ChannelOrder;
import baton.channels.OnFull;
import baton.scheduler.OnFullQueue;
import baton.sync.BarrierCancellation;
import baton.sync.ReadWritePolicy;
import baton.sync.WaitOrder;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.function.Executable;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/** How a primitive is created, what it says of itself, and that it shares its state with the Kotlin object. */
class SharedStateTest {
    private static final BarrierCancellation BREAK = BarrierCancellation.BREAK;

    /** An object with a name or none, and its description. */
    static Stream<Arguments> described() {
        return Stream.of(
                Arguments.of(AsyncSemaphore.create(1), "AsyncSemaphore (permits = 1, available = 1, waiting = 0)"),
                Arguments.of(
                        AsyncSemaphore.create(1, WaitOrder.FIFO, null),
                        "AsyncSemaphore (permits = 1, available = 1, waiting = 0)"),
                Arguments.of(
                        AsyncSemaphore.create(3, WaitOrder.FIFO, "x"),
                        "AsyncSemaphore 'x' (permits = 3, available = 3, waiting = 0)"),
                Arguments.of(AsyncMutex.create(), "AsyncMutex (free)"),
                Arguments.of(AsyncMutex.create(null), "AsyncMutex (free)"),
                Arguments.of(AsyncMutex.create("x"), "AsyncMutex 'x' (free)"),
                Arguments.of(AsyncMutex.create().newCondition(), "AsyncCondition (waiting = 0) of Mutex (free)"),
                Arguments.of(AsyncMutex.create().newCondition(null), "AsyncCondition (waiting = 0) of Mutex (free)"),
                Arguments.of(
                        AsyncMutex.create("x").newCondition("y"),
                        "AsyncCondition 'y' (waiting = 0) of Mutex 'x' (free)"),
                Arguments.of(AsyncReadWriteLock.create(), "AsyncReadWriteLock (free, waiting = 0)"),
                Arguments.of(
                        AsyncReadWriteLock.create(ReadWritePolicy.PHASE_FAIR, null),
                        "AsyncReadWriteLock (free, waiting = 0)"),
                Arguments.of(
                        AsyncReadWriteLock.create(ReadWritePolicy.PHASE_FAIR, "x"),
                        "AsyncReadWriteLock 'x' (free, waiting = 0)"),
                Arguments.of(AsyncLatch.create(1), "AsyncLatch (count = 1, waiting = 0)"),
                Arguments.of(AsyncLatch.create(1, null), "AsyncLatch (count = 1, waiting = 0)"),
                Arguments.of(AsyncLatch.create(0, "x"), "AsyncLatch 'x' (open)"),
                Arguments.of(AsyncWaitGroup.create(), "AsyncWaitGroup (count = 0, waiting = 0)"),
                Arguments.of(AsyncWaitGroup.create(null), "AsyncWaitGroup (count = 0, waiting = 0)"),
                Arguments.of(AsyncWaitGroup.create("x"), "AsyncWaitGroup 'x' (count = 0, waiting = 0)"),
                Arguments.of(AsyncBarrier.create(2), "AsyncBarrier (parties = 2, waiting = 0)"),
                Arguments.of(AsyncBarrier.create(2, BREAK), "AsyncBarrier (parties = 2, waiting = 0)"),
                Arguments.of(
                        AsyncBarrier.create(2, BREAK, SharedStateTest::noAction),
                        "AsyncBarrier (parties = 2, waiting = 0)"),
                Arguments.of(
                        AsyncBarrier.create(2, SharedStateTest::noAction, "x"),
                        "AsyncBarrier 'x' (parties = 2, waiting = 0)"),
                Arguments.of(
                        AsyncBarrier.create(2, BREAK, SharedStateTest::noAction, "x"),
                        "AsyncBarrier 'x' (parties = 2, waiting = 0)"),
                Arguments.of(AsyncBarrier.create(2, BREAK, "x"), "AsyncBarrier 'x' (parties = 2, waiting = 0)"),
                Arguments.of(AsyncChannel.create(3), "AsyncChannel (size = 0, capacity = 3, waiting = 0)"),
                Arguments.of(
                        AsyncChannel.create(3, ChannelOrder.FIFO, OnFull.SUSPEND),
                        "AsyncChannel (size = 0, capacity = 3, waiting = 0)"),
                Arguments.of(
                        AsyncChannel.create(3, ChannelOrder.FIFO, OnFull.SUSPEND, dropped -> {}),
                        "AsyncChannel (size = 0, capacity = 3, waiting = 0)"),
                Arguments.of(
                        AsyncChannel.create(3, ChannelOrder.FIFO, OnFull.SUSPEND, dropped -> {}, "x"),
                        "AsyncChannel 'x' (size = 0, capacity = 3, waiting = 0)"),
                Arguments.of(
                        AsyncTaskScheduler.create(1),
                        AsyncTaskScheduler.create(1, null).toString()),
                Arguments.of(
                        AsyncTaskScheduler.create(1, "x"),
                        "AsyncTaskScheduler 'x' (maxConcurrency = 1, running = 0, queued = 0, waiting = 0)"),
                Arguments.of(
                        AsyncChannel.create(3, ChannelOrder.FIFO, OnFull.SUSPEND, "x"),
                        "AsyncChannel 'x' (size = 0, capacity = 3, waiting = 0)"));
    }

    private static CompletableFuture<Integer> noAction() {
        return CompletableFuture.completedFuture(0);
    }

    @ParameterizedTest
    @MethodSource("described")
    void toString_saysNameAndState(Object primitive, String description) {
        assertEquals(description, primitive.toString());
    }

    @Test
    void toString_changesWithTheState() {
        AsyncMutex mutex = AsyncMutex.create("x");
        Permit permit = mutex.ownedBy("me").lock().join();
        CompletableFuture<Permit> waits = mutex.lock();
        assertEquals("AsyncMutex 'x' (locked by me, waiting = 1)", mutex.toString());
        permit.close();
        assertTrue(waits.isDone());
        assertEquals("AsyncMutex 'x' (locked, waiting = 0)", mutex.toString());
        AsyncBarrier barrier = AsyncBarrier.create(3);
        barrier.abort();
        assertEquals("AsyncBarrier (parties = 3, broken, waiting = 0)", barrier.toString());
        AsyncSemaphore semaphore = AsyncSemaphore.create(1);
        semaphore.close();
        assertEquals("AsyncSemaphore (permits = 1, available = 1, waiting = 0, closed)", semaphore.toString());
    }

    @Test
    void of_aKotlinObject_isAViewOfIt() {
        AsyncSemaphore semaphore = AsyncSemaphore.create(2);
        assertSame(semaphore.kotlin(), AsyncSemaphore.of(semaphore.kotlin()).kotlin());
        assertTrue(semaphore.tryAcquire().isPresent());
        assertEquals(1, AsyncSemaphore.of(semaphore.kotlin()).availablePermits());
        AsyncMutex mutex = AsyncMutex.create();
        assertSame(mutex.kotlin(), AsyncMutex.of(mutex.kotlin()).kotlin());
        AsyncCondition condition = mutex.newCondition();
        assertSame(condition.kotlin(), AsyncCondition.of(condition.kotlin()).kotlin());
        AsyncReadWriteLock rw = AsyncReadWriteLock.create();
        assertSame(rw.kotlin(), AsyncReadWriteLock.of(rw.kotlin()).kotlin());
        AsyncLatch latch = AsyncLatch.create(2);
        assertSame(latch.kotlin(), AsyncLatch.of(latch.kotlin()).kotlin());
        AsyncWaitGroup group = AsyncWaitGroup.create();
        assertSame(group.kotlin(), AsyncWaitGroup.of(group.kotlin()).kotlin());
        AsyncBarrier barrier = AsyncBarrier.create(2);
        assertSame(barrier.kotlin(), AsyncBarrier.of(barrier.kotlin()).kotlin());
        AsyncChannel<Integer> channel = AsyncChannel.create(2);
        assertSame(channel.kotlin(), AsyncChannel.of(channel.kotlin()).kotlin());
    }

    @Test
    void create_withSettings_hasThem() {
        assertEquals(WaitOrder.FIFO, AsyncSemaphore.create(1).order());
        for (WaitOrder order : WaitOrder.values()) {
            assertEquals(order, AsyncSemaphore.create(1, order).order());
        }
        assertEquals(ReadWritePolicy.PHASE_FAIR, AsyncReadWriteLock.create().policy());
        for (ReadWritePolicy policy : ReadWritePolicy.values()) {
            assertEquals(policy, AsyncReadWriteLock.create(policy).policy());
        }
        for (BarrierCancellation onCancel : BarrierCancellation.values()) {
            assertEquals(onCancel, AsyncBarrier.create(2, onCancel).onCancel());
        }
        assertEquals(ChannelOrder.FIFO, AsyncChannel.create(1).order());
        assertEquals(OnFull.SUSPEND, AsyncChannel.create(1).onFull());
        AsyncChannel<Integer> urgent = AsyncChannel.create(1, ChannelOrder.PRIORITY, OnFull.DROP_LATEST);
        assertEquals(ChannelOrder.PRIORITY, urgent.order());
        assertEquals(OnFull.DROP_LATEST, urgent.onFull());
        String executor = PriorityExecutor.over(Runnable::run, 1, "x").toString();
        assertTrue(executor.contains("PriorityDispatcher 'x'"), executor);
    }

    @ParameterizedTest
    @ValueSource(ints = {0, 1, Integer.MAX_VALUE})
    void numbers_atTheirLimits_areAccepted(int number) {
        int atLeastOne = Math.max(1, number);
        AsyncSemaphore semaphore = AsyncSemaphore.create(atLeastOne);
        semaphore.acquire(atLeastOne).join().close();
        semaphore.resize(atLeastOne);
        assertEquals(List.of(atLeastOne, atLeastOne), List.of(semaphore.permits(), semaphore.availablePermits()));
        assertEquals(atLeastOne, AsyncBarrier.create(atLeastOne).parties());
        assertEquals(number, AsyncLatch.create(number).count());
        AsyncChannel<String> channel = AsyncChannel.create(number);
        channel.resize(number);
        assertEquals(number, channel.capacity());
        assertEquals(number > 0, channel.trySend("a"));
    }

    @ParameterizedTest
    @ValueSource(ints = {Integer.MIN_VALUE, -1, 0, 1, Integer.MAX_VALUE})
    void numbers_outOfBounds_areRefusedAndChangeNothing(int number) {
        AsyncSemaphore semaphore = AsyncSemaphore.create(1, WaitOrder.FIFO, "x");
        AsyncTaskScheduler scheduler = AsyncTaskScheduler.create(1);
        AsyncChannel<String> channel = AsyncChannel.create(2);
        refuses(
                number < 0,
                number,
                () -> AsyncLatch.create(number),
                () -> AsyncLatch.create(number, "x"),
                () -> AsyncChannel.create(number),
                () -> AsyncChannel.create(number, ChannelOrder.PRIORITY, OnFull.DROP_LATEST),
                () -> AsyncChannel.create(number, ChannelOrder.FIFO, OnFull.SUSPEND, x -> {}),
                () -> channel.resize(number),
                () -> AsyncTaskScheduler.builder(1).capacity(number, OnFullQueue.REJECT),
                () -> AsyncSemaphore.create(number),
                () -> AsyncSemaphore.create(number, WaitOrder.FIFO, "x"),
                () -> semaphore.resize(number));
        refuses(
                number < 1,
                number,
                () -> AsyncBarrier.create(number),
                () -> AsyncBarrier.create(number, () -> CompletableFuture.completedFuture(1)),
                () -> AsyncTaskScheduler.create(number),
                () -> scheduler.maxConcurrency(number),
                () -> PriorityExecutor.create(number),
                () -> PriorityExecutor.over(Runnable::run, number),
                () -> AsyncWaitGroup.create().add(number));
        refuses(
                number != 1,
                number,
                () -> semaphore.acquire(number),
                () -> semaphore.acquire(number, Runnable::run),
                () -> semaphore.acquire(number, Priority.HIGH),
                () -> semaphore.acquire(number, Duration.ZERO),
                () -> semaphore.acquire(number, Priority.HIGH, Duration.ZERO),
                () -> semaphore.tryAcquire(number),
                () -> semaphore.withPermits(number, () -> CompletableFuture.completedFuture(1)),
                () -> semaphore.withPermits(number, () -> CompletableFuture.completedFuture(1), Futures.REJECTING),
                () -> Select.first().onAcquire(semaphore, number, permit -> permit));
        var e = assertThrows(
                IllegalArgumentException.class,
                () -> AsyncTaskScheduler.builder(1).overdueShare(Math.min(1, number)));
        assertEquals("overdueShare = " + Math.min(1, number) + ", must be at least 2", e.getMessage());
        assertEquals("AsyncSemaphore 'x' (permits = 1, available = 1, waiting = 0)", semaphore.toString());
        assertEquals(List.of(1, 2), List.of(scheduler.maxConcurrency(), channel.capacity()));
    }

    private static void refuses(boolean isRefused, int number, Executable... calls) {
        for (Executable call : isRefused ? calls : new Executable[0]) {
            var e = assertThrows(IllegalArgumentException.class, call);
            assertTrue(e.getMessage().contains("" + number), e.getMessage());
        }
    }
}
