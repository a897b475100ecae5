package baton.interop.futures;

import static baton.interop.Futures.await;
import static baton.interop.Futures.awaitFailure;
import static baton.interop.Futures.reportedBy;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertTrue;

import baton.Priority;
import baton.interop.AsyncChannel;
import baton.interop.AsyncRetry;
import baton.interop.AsyncSemaphore;
import baton.interop.Futures;
import baton.interop.LeakReport;
import baton.interop.NoTimerThread;
import baton.interop.PriorityExecutor;
import baton.interop.Tasks;
import baton.waiting.InnerFailure;
import java.io.IOException;
import java.lang.reflect.Field;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.Executor;
import java.util.concurrent.Flow;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.function.Supplier;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** A failure inside work that the Java API runs by itself is reported, or fails the call that the work is for. Other work goes on. */
class InnerFailureTest {
    @SuppressWarnings("unchecked")
    private static <T, X extends Throwable> T thrown(Throwable failure) throws X {
        throw (X) failure;
    }

    private static <T> T raise(Throwable failure) {
        return InnerFailureTest.<T, RuntimeException>thrown(failure);
    }

    @ParameterizedTest
    @EnumSource
    void map_whoseSourceOrFunctionFails_failsWithTheCause(InnerFailure inner) {
        Throwable failure = inner.getCreate().invoke();
        Iterator<Integer> source = new Iterator<>() {
            @Override
            public boolean hasNext() {
                return raise(failure);
            }

            @Override
            public Integer next() {
                return 1;
            }
        };
        Iterable<Integer> elements = () -> source;
        assertSame(failure, awaitFailure(Tasks.mapLimit(elements, 2, CompletableFuture::completedFuture)));
        assertSame(failure, awaitFailure(Tasks.mapLimit(List.of(1, 2), 2, x -> raise(failure))));
        CompletableFuture<Integer> gate = new CompletableFuture<>();
        CompletableFuture<List<Integer>> later = Tasks.mapLimit(List.of(1, 2), 1, x -> x == 1 ? gate : raise(failure));
        gate.complete(1);
        assertSame(failure, awaitFailure(later));
    }

    @ParameterizedTest
    @EnumSource
    void publishedMap_whoseSourceFails_signalsTheCause(InnerFailure inner) {
        Throwable failure = inner.getCreate().invoke();
        Signals signals = new Signals();
        Stream<Integer> source = Stream.generate(() -> raise(failure));
        Tasks.processInChunks(source, 2, 2, CompletableFuture::completedFuture).subscribe(signals);
        assertSame(failure, awaitFailure(signals.ended));
    }

    @ParameterizedTest
    @EnumSource
    void retry_whosePolicyFails_failsWithTheCause(InnerFailure inner) {
        Throwable failure = inner.getCreate().invoke();
        AsyncRetry retry = AsyncRetry.builder().retryIf(e -> raise(failure)).build();
        assertSame(failure, awaitFailure(retry.call(() -> CompletableFuture.failedFuture(new RuntimeException()))));
        AsyncRetry once = AsyncRetry.builder().maxAttempts(1).build();
        assertSame(failure, awaitFailure(once.call(() -> raise(failure))));
    }

    @Test
    void retry_withoutAThreadForItsTimers_failsWithThatError() {
        AsyncRetry waits = AsyncRetry.builder().constant(Duration.ofHours(1)).build();
        AsyncRetry limits =
                AsyncRetry.builder().attemptTimeout(Duration.ofHours(1)).build();
        CompletableFuture<Integer> running = new CompletableFuture<>();
        List<CompletableFuture<Integer>> retries = new ArrayList<>();
        NoTimerThread.during(() -> {
            retries.add(waits.call(() -> CompletableFuture.failedFuture(new IOException())));
            retries.add(limits.call(() -> running));
        });
        for (CompletableFuture<Integer> retry : retries) assertInstanceOf(OutOfMemoryError.class, awaitFailure(retry));
        assertTrue(running.isCancelled());
    }

    @Test
    @Timeout(120)
    void ownThreads_withoutAThread_reportThat_andTheCommandRunsElsewhere() throws Exception {
        OutOfMemoryError failure = new OutOfMemoryError("unable to create native thread");
        PriorityExecutor executor = PriorityExecutor.create(1, "inner-failure-own");
        ThreadPoolExecutor pool = (ThreadPoolExecutor) field(field(executor, "threads"), "pool");
        ThreadFactory factory = pool.getThreadFactory();
        pool.setThreadFactory(work -> raise(failure));
        Supplier<String> name = () -> Thread.currentThread().getName();
        List<Throwable> reported = reportedBy(() -> {
            for (int i = 0; i < 10; i++) {
                String thread = await(CompletableFuture.supplyAsync(name, executor));
                assertTrue(thread.startsWith("DefaultDispatcher"), thread);
            }
        });
        assertEquals(1, reported.size());
        assertSame(failure, reported.get(0).getCause());
        pool.setThreadFactory(factory);
        // The worker that runs elsewhere takes further commands until it finds none.
        while (!await(CompletableFuture.supplyAsync(name, executor)).startsWith("baton-inner-failure-own-"))
            Thread.yield();
        executor.shutdown();
    }

    private static Object field(Object owner, String name) throws ReflectiveOperationException {
        Field field = owner.getClass().getDeclaredField(name);
        field.setAccessible(true);
        return field.get(owner);
    }

    @ParameterizedTest
    @EnumSource
    void ownThread_whoseCommandFails_reportsIt_andTheNextCommandRuns(InnerFailure inner) {
        Throwable failure = inner.getCreate().invoke();
        CompletableFuture<Throwable> reported = new CompletableFuture<>();
        PriorityExecutor executor = PriorityExecutor.create(1, "inner-failure-" + inner);
        Executor level = executor.level(Priority.NORMAL);
        level.execute(() -> {
            Thread.currentThread().setUncaughtExceptionHandler((thread, e) -> {
                thread.setUncaughtExceptionHandler(null);
                reported.complete(e);
            });
            raise(failure);
        });
        assertSame(failure, await(reported));
        await(CompletableFuture.runAsync(() -> {}, level));
        executor.shutdown();
    }

    @ParameterizedTest
    @EnumSource
    void leakReport_whoseListenerFails_isReported_andTheCallerGetsItsPermit(InnerFailure inner) {
        Throwable failure = inner.getCreate().invoke();
        AsyncSemaphore semaphore = AsyncSemaphore.create(1_000);
        LeakReport.enable(leak -> raise(failure));
        try {
            List<Throwable> reported = new ArrayList<>();
            Futures.reportingTo(reported::add, () -> {
                for (int i = 0; i < 200 && reported.isEmpty(); i++) {
                    semaphore.acquire().join();
                    System.gc();
                    LeakReport.check();
                }
            });
            assertTrue(reported.contains(failure));
            assertTrue(semaphore.acquire().join().isHeld());
        } finally {
            LeakReport.disable();
        }
    }

    @ParameterizedTest
    @EnumSource
    void subscription_whoseSubscriberFails_isReportedAndCancelled(InnerFailure inner) {
        Throwable failure = inner.getCreate().invoke();
        AsyncChannel<Integer> channel = AsyncChannel.create(2);
        Signals signals = new Signals();
        signals.failure = failure;
        channel.publisher().subscribe(signals);
        assertEquals(List.of(failure), reportedBy(() -> channel.trySend(1)));
        assertFalse(signals.ended.isDone());
        assertTrue(channel.trySend(2));
        assertEquals(1, channel.size());
    }

    @ParameterizedTest
    @EnumSource
    void subscription_whoseExecutorFails_goesOnOnTheCallersThread(InnerFailure inner) {
        AsyncChannel<Integer> channel = AsyncChannel.create(2);
        Executor failing = command -> raise(inner.getCreate().invoke());
        List<Integer> seen = new CopyOnWriteArrayList<>();
        CompletableFuture<Void> ended = channel.forEach(seen::add, failing);
        for (int i = 0; i < 200; i++) assertTrue(channel.trySend(i));
        channel.close();
        await(ended);
        assertEquals(200, seen.size());
    }

    private static final class Signals implements Flow.Subscriber<Object> {
        private final CompletableFuture<Void> ended = new CompletableFuture<>();
        private Throwable failure;

        @Override
        public void onSubscribe(Flow.Subscription subscription) {
            subscription.request(Long.MAX_VALUE);
        }

        @Override
        public void onNext(Object element) {
            if (failure != null) raise(failure);
        }

        @Override
        public void onError(Throwable why) {
            ended.completeExceptionally(why);
        }

        @Override
        public void onComplete() {
            ended.complete(null);
        }
    }
}
