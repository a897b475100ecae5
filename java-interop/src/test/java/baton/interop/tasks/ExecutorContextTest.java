package baton.interop.tasks;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import baton.Priority;
import baton.interop.AsyncSemaphore;
import baton.interop.AsyncTaskScheduler;
import baton.interop.ContextPropagation;
import baton.interop.ContextPropagator;
import baton.interop.Futures;
import baton.interop.Permit;
import baton.interop.PriorityExecutor;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Future;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Commands of executors run in the context of the thread that submitted them, one at a time and in steps. */
@Timeout(300)
class ExecutorContextTest {
    private static final ThreadLocal<String> USER = ThreadLocal.withInitial(() -> "none");

    private static final class UserPropagator implements ContextPropagator<String> {
        @Override
        public String capture() {
            return USER.get();
        }

        @Override
        public Runnable restore(String captured) {
            String before = USER.get();
            USER.set(captured);
            return () -> USER.set(before);
        }
    }

    private enum Kind {
        SCHEDULER(threads ->
                AsyncTaskScheduler.builder(1).executor(threads).build().executor(Priority.HIGH)),
        PRIORITY_EXECUTOR(threads -> PriorityExecutor.over(threads, 1).level(Priority.HIGH));

        private final Function<Futures.Steps, ExecutorService> create;

        Kind(Function<Futures.Steps, ExecutorService> create) {
            this.create = create;
        }
    }

    private final Futures.Steps threads = new Futures.Steps();
    private final List<String> seen = new ArrayList<>();

    @BeforeEach
    void enable() {
        ContextPropagation.enable(new UserPropagator());
    }

    @AfterEach
    void disable() {
        ContextPropagation.disable();
        USER.remove();
    }

    private void see() {
        seen.add(USER.get());
    }

    private static <T> T as(String user, Callable<T> call) throws Exception {
        USER.set(user);
        try {
            return call.call();
        } finally {
            USER.remove();
        }
    }

    @ParameterizedTest
    @EnumSource(Kind.class)
    void commands_ofEachMethod_seeTheContextOfTheirSubmitter(Kind kind) throws Exception {
        ExecutorService executor = kind.create.apply(threads);
        Future<?> submitted = as("alice", () -> executor.submit(this::see));
        as("bob", () -> {
            executor.execute(this::see);
            return true;
        });
        CompletableFuture<Void> stage = as("carol", () -> CompletableFuture.runAsync(this::see, executor));
        executor.execute(this::see);
        as("worker", () -> {
            threads.runAll();
            assertEquals("worker", USER.get());
            return true;
        });
        assertTrue(submitted.isDone() && stage.isDone());
        assertEquals(List.of("alice", "bob", "carol", "none"), seen);
    }

    @ParameterizedTest
    @EnumSource(Kind.class)
    void dependent_ofARequestThatWaited_seesTheContextOfTheRequest(Kind kind) throws Exception {
        ExecutorService executor = kind.create.apply(threads);
        AsyncSemaphore semaphore = AsyncSemaphore.create(1);
        Permit held = semaphore.acquire().join();
        CompletableFuture<Void> dependent =
                as("caller", () -> semaphore.acquire().thenAcceptAsync(p -> see(), executor));
        as("releaser", () -> {
            held.close();
            return true;
        });
        threads.runAll();
        assertTrue(dependent.isDone());
        assertEquals(List.of("caller"), seen);
    }

    /** The releasing thread submits these commands, for their callers. */
    @ParameterizedTest
    @EnumSource(Kind.class)
    void action_ofARequestThatWaited_andItsDependents_seeNothingOfTheReleaser(Kind kind) throws Exception {
        ExecutorService executor = kind.create.apply(threads);
        AsyncSemaphore semaphore = AsyncSemaphore.create(1);
        Permit held = semaphore.acquire().join();
        Callable<Integer> action = () -> {
            see();
            return 1;
        };
        CompletableFuture<Void> dependent =
                as("caller", () -> semaphore.withPermit(action, executor).thenRun(this::see));
        CompletableFuture<Void> onExecutor =
                as("other", () -> semaphore.acquire(1, executor).thenAccept(p -> see()));
        as("releaser", () -> {
            held.close();
            threads.runAll();
            return true;
        });
        assertTrue(dependent.isDone() && onExecutor.isDone());
        assertEquals(List.of("caller", "caller", "other"), seen);
    }

    /** A task that waits for a slot is submitted to the scheduler's own executor by the thread that frees the slot. */
    @Test
    void task_onAPriorityExecutor_andItsDependents_seeNothingOfTheThreadThatFreedTheSlot() throws Exception {
        AsyncTaskScheduler scheduler = AsyncTaskScheduler.builder(1)
                .executor(PriorityExecutor.over(threads, 1))
                .build();
        CompletableFuture<Integer> stage = new CompletableFuture<>();
        var running = as("first", () -> scheduler.schedule(Priority.NORMAL, () -> stage));
        CompletableFuture<Void> dependent =
                as("caller", () -> scheduler.schedule(Priority.LOW, this::see).thenRun(this::see));
        threads.runAll();
        as("releaser", () -> {
            stage.complete(1);
            threads.runAll();
            return true;
        });
        assertTrue(running.isDone() && dependent.isDone());
        assertEquals(List.of("caller", "caller"), seen);
    }

    @ParameterizedTest
    @EnumSource(Kind.class)
    void shutdownNow_returnsTheCommandsThemselves(Kind kind) throws Exception {
        ExecutorService executor = kind.create.apply(threads);
        Runnable command = this::see;
        FutureTask<Integer> future = new FutureTask<>(() -> 1);
        executor.execute(command);
        executor.execute(future);
        List<Runnable> dropped = executor.shutdownNow();
        assertSame(command, dropped.get(0));
        assertSame(future, dropped.get(1));
        threads.runAll();
        assertEquals(List.of(), seen);
        assertTrue(executor.awaitTermination(0, TimeUnit.SECONDS));
    }

    /** A failed capture refuses the command: it is neither run nor counted. */
    @ParameterizedTest
    @EnumSource(Kind.class)
    void execute_whoseCaptureThrows_takesNothing(Kind kind) throws Exception {
        ExecutorService executor = kind.create.apply(threads);
        IllegalStateException failure = new IllegalStateException("no context");
        ContextPropagation.enable(new ContextPropagator<Object>() {
            @Override
            public Object capture() {
                throw failure;
            }

            @Override
            public Runnable restore(Object captured) {
                throw new AssertionError("nothing was captured");
            }
        });
        assertSame(failure, assertThrows(IllegalStateException.class, () -> executor.execute(this::see)));
        threads.runAll();
        executor.shutdown();
        assertEquals(List.of(), seen);
        assertTrue(executor.awaitTermination(0, TimeUnit.SECONDS));
    }

    @Test
    void command_whoseRestoreThrows_runsAllTheSame() {
        ExecutorService executor = Kind.SCHEDULER.create.apply(threads);
        IllegalStateException failure = new IllegalStateException("no context");
        ContextPropagation.enable(new ContextPropagator<String>() {
            @Override
            public String capture() {
                return "";
            }

            @Override
            public Runnable restore(String captured) {
                throw failure;
            }
        });
        executor.execute(this::see);
        assertEquals(List.of(failure), Futures.reportedBy(threads::runAll));
        assertEquals(List.of("none"), seen);
    }
}
