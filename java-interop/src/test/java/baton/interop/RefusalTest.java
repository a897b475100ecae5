package baton.interop;

import static baton.interop.Futures.awaitFailure;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.params.provider.Arguments.arguments;

import baton.PermitTimeoutException;
import baton.Priority;
import baton.Refusal;
import baton.channels.ChannelClosedException;
import baton.resilience.AttemptTimeoutException;
import baton.resilience.BreakerState;
import baton.resilience.CircuitOpenException;
import baton.resilience.RateLimitedException;
import baton.resilience.RateLimiterClosedException;
import baton.scheduler.OnFullQueue;
import baton.scheduler.SchedulerClosedException;
import baton.scheduler.TaskDeadlineException;
import baton.scheduler.TaskRejectedException;
import baton.scheduler.TaskShedException;
import baton.sync.BarrierBrokenException;
import baton.sync.BarrierTimeoutException;
import baton.sync.SemaphoreClosedException;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.function.Executable;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/** The exceptions of calls that were not admitted are refusals, breakers count them as nothing, and retries do not repeat them. */
class RefusalTest {
    private static final Duration SHORT = Duration.ofMillis(1);

    @TempDir
    private static Path directory;

    private static Arguments row(Class<? extends Exception> type, String request, Callable<Throwable> failure) {
        return arguments(type, request, failure);
    }

    /** A future that fails. */
    private static Arguments future(
            Class<? extends Exception> type, String request, Callable<CompletableFuture<?>> call) {
        return row(type, request, () -> awaitFailure(call.call()));
    }

    /** A call that throws. */
    private static Arguments thread(Class<? extends Exception> type, String request, Executable call) {
        return row(type, "blocking " + request, () -> assertThrows(Throwable.class, call));
    }

    private static AsyncSemaphore fullSemaphore() {
        AsyncSemaphore semaphore = AsyncSemaphore.create(1);
        assertTrue(semaphore.tryAcquire().isPresent());
        return semaphore;
    }

    private static AsyncRateLimiter spentLimiter(int maxWaiting) {
        AsyncRateLimiter limiter = AsyncRateLimiter.builder(1, Duration.ofDays(1))
                .maxWaiting(maxWaiting)
                .name("x")
                .build();
        assertTrue(limiter.tryAcquire());
        return limiter;
    }

    private static AsyncMutex lockedMutex() {
        AsyncMutex mutex = AsyncMutex.create();
        assertTrue(mutex.tryLock().isPresent());
        return mutex;
    }

    private static AsyncReadWriteLock writtenLock() {
        AsyncReadWriteLock lock = AsyncReadWriteLock.create();
        assertTrue(lock.tryLockWrite().isPresent());
        return lock;
    }

    private static UpgradablePermit upgradableBesideAReader() {
        AsyncReadWriteLock lock = AsyncReadWriteLock.create();
        assertTrue(lock.tryLockRead().isPresent());
        return lock.lockUpgradable().join();
    }

    private static AsyncChannel<String> fullChannel() {
        AsyncChannel<String> channel = AsyncChannel.create(1);
        assertTrue(channel.trySend("first"));
        return channel;
    }

    private static AsyncCircuitBreaker openBreaker() {
        AsyncCircuitBreaker breaker = AsyncCircuitBreaker.create("x");
        breaker.trip();
        return breaker;
    }

    private static AsyncTaskScheduler busyScheduler(OnFullQueue onFull) {
        AsyncTaskScheduler scheduler = AsyncTaskScheduler.builder(1)
                .executor(Runnable::run)
                .capacity(1, onFull)
                .build();
        var unused = scheduler.schedule(Priority.NORMAL, () -> new CompletableFuture<String>());
        return scheduler;
    }

    private static CompletableFuture<?> queued(AsyncTaskScheduler scheduler, Priority priority) {
        return scheduler.schedule(priority, () -> "never");
    }

    private static CompletableFuture<String> never() {
        throw new AssertionError("admitted");
    }

    static Stream<Arguments> refusals() {
        Class<PermitTimeoutException> late = PermitTimeoutException.class;
        return Stream.of(
                future(late, "acquire at once", () -> fullSemaphore().acquire(Duration.ZERO)),
                future(late, "acquire", () -> fullSemaphore().acquire(SHORT)),
                future(late, "withPermit", () -> fullSemaphore().withPermit(RefusalTest::never, SHORT)),
                future(
                        late,
                        "withPermit on",
                        () -> fullSemaphore().withPermit(RefusalTest::never, Runnable::run, SHORT)),
                thread(late, "acquire", () -> fullSemaphore().blocking().acquire(SHORT)),
                thread(late, "call", () -> fullSemaphore().blocking().call(SHORT, RefusalTest::never)),
                future(late, "acquire of a limiter", () -> spentLimiter(1).acquire(SHORT)),
                thread(
                        late,
                        "acquire of a limiter",
                        () -> spentLimiter(1).blocking().acquire(SHORT)),
                future(late, "withPermit of a limiter", () -> spentLimiter(1).withPermit(RefusalTest::never, SHORT)),
                future(
                        late,
                        "withPermit of a limiter on",
                        () -> spentLimiter(1).withPermit(RefusalTest::never, Runnable::run, SHORT)),
                thread(
                        late,
                        "call of a limiter",
                        () -> spentLimiter(1).blocking().call(SHORT, RefusalTest::never)),
                future(late, "lock at once", () -> lockedMutex().lock(Duration.ZERO)),
                future(late, "lock", () -> lockedMutex().lock(SHORT)),
                future(late, "withLock", () -> lockedMutex().withLock(RefusalTest::never, SHORT)),
                thread(late, "call of a mutex", () -> lockedMutex().blocking().call(SHORT, RefusalTest::never)),
                future(late, "lockRead", () -> writtenLock().lockRead(SHORT)),
                future(late, "lockWrite", () -> writtenLock().lockWrite(SHORT)),
                future(late, "lockUpgradable", () -> writtenLock().lockUpgradable(Duration.ZERO)),
                future(late, "withRead", () -> writtenLock().withRead(RefusalTest::never, SHORT)),
                future(late, "upgrade at once", () -> upgradableBesideAReader().upgrade(Duration.ZERO)),
                future(late, "upgrade", () -> upgradableBesideAReader().upgrade(SHORT)),
                thread(late, "read", () -> writtenLock().blocking().read(SHORT, RefusalTest::never)),
                thread(late, "write", () -> writtenLock().blocking().write(SHORT, RefusalTest::never)),
                future(late, "send at once", () -> fullChannel().send("x", Duration.ZERO)),
                future(late, "send", () -> fullChannel().send("x", SHORT)),
                future(late, "reserve", () -> fullChannel().reserve(SHORT)),
                thread(late, "send", () -> fullChannel().blocking().send("x", SHORT)),
                thread(late, "reserve", () -> fullChannel().blocking().reserve(SHORT)),
                row(
                        late,
                        "lock of a shared mutex",
                        () -> inRegion(region -> {
                            assertTrue(region.mutex("m").tryLock().isPresent());
                            return region.mutex("m").lock(SHORT);
                        })),
                row(
                        late,
                        "acquire of a shared semaphore",
                        () -> inRegion(region -> {
                            assertTrue(region.semaphore("s", 1).tryAcquire().isPresent());
                            return region.semaphore("s", 1).acquire(1, SHORT);
                        })),
                thread(
                        late,
                        "task",
                        () -> busyScheduler(OnFullQueue.REJECT)
                                .blocking()
                                .call(Priority.NORMAL, SHORT, RefusalTest::never)),
                future(SemaphoreClosedException.class, "acquire", () -> {
                    AsyncSemaphore semaphore = fullSemaphore();
                    CompletableFuture<Permit> waits = semaphore.acquire();
                    semaphore.close();
                    return waits;
                }),
                future(
                        RateLimitedException.class,
                        "acquire",
                        () -> spentLimiter(0).acquire()),
                future(RateLimiterClosedException.class, "acquire", () -> {
                    AsyncRateLimiter limiter = spentLimiter(1);
                    limiter.close();
                    return limiter.acquire();
                }),
                future(
                        CircuitOpenException.class,
                        "protect",
                        () -> openBreaker().protect(RefusalTest::never)),
                future(TaskRejectedException.class, "schedule", () -> {
                    AsyncTaskScheduler scheduler = busyScheduler(OnFullQueue.REJECT);
                    queued(scheduler, Priority.NORMAL);
                    return queued(scheduler, Priority.NORMAL);
                }),
                future(TaskShedException.class, "schedule", () -> {
                    AsyncTaskScheduler scheduler = busyScheduler(OnFullQueue.DROP_LOWEST);
                    CompletableFuture<?> shed = queued(scheduler, Priority.LOW);
                    queued(scheduler, Priority.HIGH);
                    return shed;
                }),
                future(TaskDeadlineException.class, "schedule", () -> {
                    TaskOptions options = TaskOptions.of(Priority.HIGH).withDeadline(SHORT);
                    return busyScheduler(OnFullQueue.REJECT).schedule(options, () -> "never");
                }),
                future(SchedulerClosedException.class, "schedule", () -> {
                    AsyncTaskScheduler scheduler = busyScheduler(OnFullQueue.REJECT);
                    scheduler.closeNow();
                    return queued(scheduler, Priority.NORMAL);
                }));
    }

    static Stream<Arguments> others() {
        Class<TimeoutException> late = TimeoutException.class;
        return Stream.of(
                future(
                        BarrierTimeoutException.class,
                        "arrive",
                        () -> AsyncBarrier.create(2).arrive(SHORT)),
                future(
                        BarrierTimeoutException.class,
                        "arrive at once",
                        () -> AsyncBarrier.create(2).arrive(Duration.ZERO)),
                future(BarrierBrokenException.class, "arrive", () -> {
                    AsyncBarrier barrier = AsyncBarrier.create(2);
                    barrier.abort();
                    return barrier.arrive();
                }),
                future(
                        AttemptTimeoutException.class,
                        "retry",
                        () -> AsyncRetry.builder()
                                .maxAttempts(1)
                                .attemptTimeout(SHORT)
                                .build()
                                .call(() -> new CompletableFuture<>())),
                future(late, "await", () -> AsyncLatch.create(1).await(SHORT)),
                future(late, "await of a group", () -> {
                    AsyncWaitGroup group = AsyncWaitGroup.create();
                    group.add();
                    return group.await(Duration.ZERO);
                }),
                future(late, "await of a condition", () -> {
                    AsyncMutex mutex = AsyncMutex.create();
                    return mutex.newCondition().await(mutex.lock().join(), SHORT);
                }),
                future(late, "awaitClosed", () -> openBreaker().awaitClosed(SHORT)),
                row(
                        late,
                        "await of a shared group",
                        () -> inRegion(region -> {
                            region.waitGroup("g").add(1);
                            return region.waitGroup("g").await(SHORT);
                        })),
                future(late, "receive", () -> AsyncChannel.create(1).receive(SHORT)),
                thread(late, "receive", () -> AsyncChannel.create(1).blocking().receive(SHORT)),
                future(ChannelClosedException.class, "send", () -> {
                    AsyncChannel<String> channel = fullChannel();
                    channel.close();
                    return channel.send("x", SHORT);
                }),
                future(late, "orTimeout", () -> fullSemaphore().acquire().orTimeout(1, TimeUnit.MILLISECONDS)),
                future(
                        late,
                        "orTimeout of a task",
                        () -> CancellableFuture.of(new CompletableFuture<String>())
                                .orTimeout(1, TimeUnit.MILLISECONDS)));
    }

    private interface InRegion {
        CompletableFuture<?> begin(AsyncSharedRegion region) throws Exception;
    }

    private static Throwable inRegion(InRegion request) throws Exception {
        try (AsyncSharedRegion region = AsyncSharedRegion.open(directory.resolve("app"))) {
            return awaitFailure(request.begin(region));
        }
    }

    /** Three failures of the call open this breaker. */
    private static AsyncCircuitBreaker sensitiveBreaker() {
        return AsyncCircuitBreaker.builder().window(3).minimumCalls(1).build();
    }

    @ParameterizedTest(name = "{1}: {0}")
    @MethodSource("refusals")
    void refusal_isOne_andCountsAsNothing(Class<?> type, String request, Callable<Throwable> failure) throws Exception {
        Throwable e = failure.call();
        assertEquals(type, e.getClass(), request);
        assertInstanceOf(Refusal.class, e);
        AsyncCircuitBreaker breaker = sensitiveBreaker();
        assertEquals(e, awaitFailure(breaker.protect(() -> CompletableFuture.failedFuture(e))));
        assertEquals(0, breaker.metrics().getCalls());
        assertEquals(1, attemptsWith(e));
    }

    @ParameterizedTest(name = "{1}: {0}")
    @MethodSource("others")
    void otherFailure_isNoRefusal_andCounts(Class<?> type, String request, Callable<Throwable> failure)
            throws Exception {
        Throwable e = failure.call();
        assertEquals(type, e.getClass(), request);
        assertTrue(!(e instanceof Refusal), e::toString);
        AsyncCircuitBreaker breaker = sensitiveBreaker();
        assertEquals(e, awaitFailure(breaker.protect(() -> CompletableFuture.failedFuture(e))));
        assertEquals(BreakerState.OPEN, breaker.state());
        assertEquals(e instanceof TimeoutException ? 2 : 1, attemptsWith(e));
    }

    /** The attempts that a retry makes of an action that fails so. */
    private static int attemptsWith(Throwable e) {
        int[] attempts = new int[1];
        AsyncRetry retry = AsyncRetry.builder()
                .maxAttempts(2)
                .constant(Duration.ZERO)
                .jitter(0)
                .build();
        awaitFailure(retry.call(() -> {
            attempts[0]++;
            return CompletableFuture.failedFuture(e);
        }));
        return attempts[0];
    }

    /** A refusal of an application. Any other {@code IOException} counts as a failure, and is repeated. */
    private static final class QuotaException extends IOException implements Refusal {
        private static final long serialVersionUID = 1;

        QuotaException() {
            super("no quota");
        }

        @Override
        public Duration retryIn() {
            return Duration.ofMillis(20);
        }
    }

    private static final class PlainRefusal extends IOException implements Refusal {
        private static final long serialVersionUID = 1;
    }

    @Test
    void refusalOfAnApplication_countsAsNothing_andIsNotRepeated() {
        for (Exception e : new Exception[] {new QuotaException(), new PlainRefusal()}) {
            AsyncCircuitBreaker breaker = sensitiveBreaker();
            assertThrows(
                    IOException.class,
                    () -> breaker.blocking().call(() -> {
                        throw e;
                    }));
            assertEquals(0, breaker.metrics().getCalls());
            assertEquals(1, attemptsWith(e));
        }
    }

    @Test
    void retryIn_thatIsNotOverridden_isUnknown() {
        assertNull(new PlainRefusal().retryIn());
    }

    @Test
    void retryIn_ofARefusalThatRetryIfAccepts_isTheShortestWait() {
        Duration[] waited = new Duration[1];
        AsyncRetry retry = AsyncRetry.builder()
                .maxAttempts(2)
                .constant(Duration.ZERO)
                .retryIf(e -> e instanceof Refusal)
                .onRetry(attempt -> waited[0] = attempt.delay())
                .build();
        awaitFailure(retry.call(() -> CompletableFuture.failedFuture(new QuotaException())));
        assertEquals(Duration.ofMillis(20), waited[0]);
    }
}
