package baton.interop.cancel;

import static baton.interop.Futures.await;
import static baton.interop.Futures.failure;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import baton.bridge.Durations;
import baton.interop.CancellableFuture;
import baton.interop.CancellationToken;
import baton.interop.Futures;
import baton.interop.Futures.Steps;
import baton.interop.TaskScope;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeoutException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.function.Executable;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

@Timeout(value = 300, threadMode = Timeout.ThreadMode.SEPARATE_THREAD) // close() ignores an interrupt
class TaskScopeTest {
    private final Steps steps = new Steps();
    private final List<String> seen = new CopyOnWriteArrayList<>();
    private final IOException failure = new IOException("first");

    /** Runs each command in a daemon thread of its own. */
    private static void threads(Runnable task) {
        Thread thread = new Thread(task);
        thread.setDaemon(true);
        thread.start();
    }

    /** A function that runs until it is cancelled, and a bit longer. */
    private String untilCancelled(CancellationToken token, CompletableFuture<?> runs) {
        CompletableFuture<Void> cancelled = new CompletableFuture<>();
        token.onCancel(() -> seen.add("torn down"));
        token.onCancel(() -> cancelled.complete(null));
        runs.complete(null);
        cancelled.join();
        seen.add("ends");
        return "too late";
    }

    @Test
    void join_waitsForAll() throws Exception {
        try (TaskScope scope = TaskScope.open(TaskScopeTest::threads)) {
            CancellableFuture<Integer> one = scope.fork(token -> 1);
            CancellableFuture<String> two = scope.fork(() -> "two");
            scope.join();
            assertTrue(one.isDone() && two.isDone());
            assertEquals("1 two", one.join() + " " + two.join());
            assertEquals("TaskScope (running = 0)", scope.toString());
            scope.join();
        }
    }

    @Test
    void join_withoutForks_returnsAtOnce() throws Exception {
        TaskScope scope = TaskScope.openIndependent(steps);
        scope.join();
        scope.join(Duration.ZERO);
        scope.close();
        scope.join();
        scope.close();
    }

    @Test
    void failure_ofTheFirst_cancelsTheOthersAndIsThrown() throws Exception {
        CompletableFuture<Void> runs = new CompletableFuture<>();
        try (TaskScope scope = TaskScope.open(TaskScopeTest::threads, "page")) {
            CancellableFuture<String> running = scope.fork(token -> untilCancelled(token, runs));
            await(runs);
            CancellableFuture<String> failing = scope.fork(token -> {
                throw failure;
            });
            assertSame(
                    failure, assertThrows(ExecutionException.class, scope::join).getCause());
            assertSame(failure, failure(failing));
            assertSame(failure, failure(running).getCause());
            assertEquals(2, seen.size());
            CancellableFuture<String> after = scope.fork(token -> "never");
            assertTrue(after.isCancelled() && after.terminated().isDone());
            assertSame(failure, failure(after).getCause());
            assertEquals("TaskScope 'page' (failed, running = 0)", scope.toString());
            assertSame(
                    failure, assertThrows(ExecutionException.class, scope::join).getCause());
        }
    }

    @Test
    void failure_inAnIndependentScope_cancelsNothing() {
        IllegalStateException second = new IllegalStateException("second");
        try (TaskScope scope = TaskScope.openIndependent(steps)) {
            scope.fork(token -> {
                throw failure;
            });
            CancellableFuture<Integer> well = scope.fork(token -> 1);
            for (RuntimeException late : List.of(second, new java.util.concurrent.CompletionException(failure))) {
                scope.fork(token -> {
                    throw late;
                });
            }
            steps.runAll();
            CancellableFuture<Integer> after = scope.fork(token -> 2);
            steps.runAll();
            assertSame(
                    failure, assertThrows(ExecutionException.class, scope::join).getCause());
            assertEquals(List.of(second), Arrays.asList(failure.getSuppressed()), "once, and not itself");
            assertEquals(3, well.join() + after.join());
        }
    }

    @Test
    void failure_ofExecutorOrTimeout_isAFailureOfTheScope() {
        try (TaskScope scope = TaskScope.open(Futures.REJECTING)) {
            scope.fork(token -> 1);
            assertInstanceOf(
                    RejectedExecutionException.class,
                    assertThrows(ExecutionException.class, scope::join).getCause());
        }
        try (TaskScope scope = TaskScope.open(steps)) {
            CancellableFuture<Integer> other = scope.fork(token -> 1);
            CancellableFuture<Integer> late = scope.fork(token -> 2).orTimeout(Duration.ZERO);
            Throwable e = assertThrows(ExecutionException.class, scope::join).getCause();
            assertInstanceOf(TimeoutException.class, e);
            assertSame(e, failure(late));
            assertSame(e, failure(other).getCause());
        }
    }

    @Test
    void cancel_ofOne_isNoFailure() throws Exception {
        try (TaskScope scope = TaskScope.open(steps)) {
            CancellableFuture<Integer> one = scope.fork(token -> 1);
            CancellableFuture<Integer> two = scope.fork(token -> 2);
            CancellableFuture<Integer> three = scope.fork(token -> 3);
            one.cancel(failure);
            two.thenApply(String::valueOf).cancel(true);
            steps.runAll();
            scope.join();
            assertEquals(3, three.join());
            assertTrue(one.isCancelled() && two.isCancelled());
        }
    }

    @ParameterizedTest
    @ValueSource(longs = {0, 1, 999_999})
    void join_afterTheTimeout_cancelsTheRest(long nanos) throws Exception {
        CompletableFuture<Void> runs = new CompletableFuture<>();
        try (TaskScope scope = TaskScope.open(TaskScopeTest::threads)) {
            CancellableFuture<String> running = scope.fork(token -> untilCancelled(token, runs));
            await(runs);
            var e = assertThrows(TimeoutException.class, () -> scope.join(Duration.ofNanos(nanos)));
            assertTrue(
                    e.getMessage().startsWith("not ended within " + Durations.textOf(Duration.ofNanos(nanos)) + ": "),
                    e.getMessage());
            assertSame(e, failure(running).getCause());
            assertTrue(scope.fork(token -> 1).isCancelled());
            scope.join();
            assertEquals(2, seen.size());
        }
    }

    @Test
    void join_afterTheTimeoutAndOneHasFailed_showsTheFailure() {
        CompletableFuture<Void> end = new CompletableFuture<>();
        CompletableFuture<Void> begun = new CompletableFuture<>();
        try (TaskScope scope = TaskScope.openIndependent(TaskScopeTest::threads)) {
            CancellableFuture<Void> running = scope.fork(token -> {
                begun.complete(null);
                return end.join();
            });
            await(begun);
            await(scope.fork(token -> {
                        throw failure;
                    })
                    .terminated());
            var e = assertThrows(TimeoutException.class, () -> scope.join(Duration.ZERO));
            assertEquals(List.of(failure), Arrays.asList(e.getSuppressed()));
            assertTrue(running.isCancelled());
            assertFalse(running.terminated().isDone());
            end.complete(null);
        }
    }

    @Test
    void join_inTime_returns() throws Exception {
        try (TaskScope scope = TaskScope.open(TaskScopeTest::threads)) {
            for (Duration timeout : List.of(Duration.ofSeconds(30), Duration.ofSeconds(Long.MAX_VALUE))) {
                CancellableFuture<Integer> one = scope.fork(token -> 1);
                scope.join(timeout);
                assertEquals(1, one.join());
            }
        }
    }

    @Test
    void join_withNegativeTimeout_isNowOrNotAtAll() throws Exception {
        for (Duration timeout : List.of(Duration.ofNanos(-1), Duration.ofSeconds(Long.MIN_VALUE))) {
            try (TaskScope scope = TaskScope.open(steps)) {
                scope.join(timeout);
                CancellableFuture<Integer> one = scope.fork(token -> 1);
                var e = assertThrows(TimeoutException.class, () -> scope.join(timeout));
                assertTrue(e.getMessage().contains("within " + Durations.textOf(timeout)), e.getMessage());
                assertTrue(one.isCancelled());
            }
        }
    }

    @Test
    void join_interrupted_throwsAndLeavesWhatRuns() {
        try (TaskScope scope = TaskScope.open(steps)) {
            CancellableFuture<Integer> one = scope.fork(token -> 1);
            for (Executable join : List.<Executable>of(scope::join, () -> scope.join(Duration.ofDays(1)))) {
                Thread.currentThread().interrupt();
                assertThrows(InterruptedException.class, join);
            }
            assertFalse(one.isDone() || Thread.interrupted());
        }
    }

    @Test
    void close_cancelsWhatRunsAndWaitsForIt() {
        CompletableFuture<Void> runs = new CompletableFuture<>();
        TaskScope scope = TaskScope.open(TaskScopeTest::threads, "page");
        CancellableFuture<String> running = scope.fork(token -> untilCancelled(token, runs));
        await(runs);
        Thread.currentThread().interrupt();
        scope.close();
        assertTrue(Thread.interrupted(), "kept");
        assertTrue(running.isCancelled());
        assertEquals(List.of("ends", "torn down"), seen.stream().sorted().toList());
        var e = assertThrows(IllegalStateException.class, () -> scope.fork(token -> 1));
        assertEquals("closed: TaskScope 'page' (closed, running = 0)", e.getMessage());
        scope.close();
    }

    @Test
    void close_whenTheExecutorNeverRunsThem_ends() {
        TaskScope scope = TaskScope.open(task -> {});
        CancellableFuture<Integer> one = scope.fork(token -> 1);
        scope.close();
        assertTrue(one.isCancelled());
    }

    @Test
    void closeOrJoin_fromWithin_isRefused() throws Exception {
        try (TaskScope scope = TaskScope.openIndependent(Runnable::run)) {
            List<Throwable> refused = new ArrayList<>();
            Runnable tries = () -> {
                refused.add(assertThrows(IllegalStateException.class, scope::close));
                refused.add(assertThrows(IllegalStateException.class, scope::join));
                refused.add(assertThrows(IllegalStateException.class, () -> scope.join(Duration.ZERO)));
            };
            scope.fork(token -> {
                tries.run();
                scope.fork(inner -> 1);
                tries.run();
                token.onCancel(tries);
                throw failure;
            });
            assertEquals(9, refused.size());
            assertTrue(refused.get(0).getMessage().startsWith("close from within the scope"));
            // The close was refused, so the scope is still open.
            assertEquals(1, scope.fork(token -> 1).join());
            assertThrows(ExecutionException.class, scope::join);
        }
    }

    @Test
    void close_fromACallbackOfACancel_isRefused() {
        TaskScope scope = TaskScope.open(steps);
        CancellableFuture<Integer> one = scope.fork(token -> 1);
        CompletableFuture<Void> callback = one.handle((value, e) -> {
            scope.close();
            return null;
        });
        one.cancel(true);
        assertInstanceOf(IllegalStateException.class, failure(callback).getCause());
        scope.close();
    }

    @Test
    void openVirtual_whereThereAreVirtualThreads_leavesNoThreadBehind() throws Exception {
        if (Runtime.version().feature() < 21) {
            assertThrows(UnsupportedOperationException.class, TaskScope::openVirtual);
            return;
        }
        List<Thread> threads = new CopyOnWriteArrayList<>();
        CompletableFuture<Void> runs = new CompletableFuture<>();
        try (TaskScope scope = TaskScope.openVirtual("page")) {
            CancellableFuture<Boolean> first = scope.fork(token -> threads.add(Thread.currentThread()));
            scope.fork(token -> {
                token.interruptible();
                threads.add(Thread.currentThread());
                runs.complete(null);
                return new CompletableFuture<>().get();
            });
            // The end of the scope would cancel it before it begins.
            await(first);
            await(runs);
        }
        List<String> names = threads.stream().map(Thread::getName).sorted().toList();
        assertEquals(List.of("page-1", "page-2"), names);
        for (Thread thread : threads) {
            // The thread itself notifies the executor, just before it ends.
            thread.join(120_000);
            assertFalse(thread.isAlive());
        }
        TaskScope.openVirtual().close();
    }
}
