package baton.interop.tasks;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import baton.Priority;
import baton.interop.AsyncTaskScheduler;
import baton.interop.Futures;
import baton.scheduler.OnFullQueue;
import baton.scheduler.PriorityPolicy;
import baton.scheduler.TaskSchedulerConfig;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.function.Executable;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The settings of the builder, and the values that it refuses. */
class AsyncTaskSchedulerBuilderTest {
    private final AsyncTaskScheduler scheduler = AsyncTaskScheduler.create(1);

    @Test
    void overdueShare_one_isRefused() {
        var e = assertThrows(
                IllegalArgumentException.class,
                () -> AsyncTaskScheduler.builder(1).overdueShare(1));
        assertEquals("overdueShare must be at least 2, was 1", e.getMessage());
    }

    @Test
    void builder_sayingNothing_hasTheDefaultsThatItStates() {
        AsyncTaskScheduler built = AsyncTaskScheduler.builder(2).build();
        TaskSchedulerConfig config = built.kotlin().getConfig();
        assertNull(built.kotlin().getName());
        assertEquals("Bounded(64/128/256/512)", config.getPolicy().toString());
        assertEquals(Map.of(), config.getMaxWait());
        assertEquals(List.of(4, Integer.MAX_VALUE), List.of(config.getOverdueShare(), config.getCapacity()));
        assertSame(OnFullQueue.REJECT, config.getOnFull());
    }

    @ParameterizedTest
    @ValueSource(ints = {Integer.MIN_VALUE, -1, 0})
    void numbers_outOfBounds_areRefused(int number) {
        for (Executable call : List.<Executable>of(
                () -> AsyncTaskScheduler.create(number),
                () -> scheduler.maxConcurrency(number),
                () -> AsyncTaskScheduler.builder(1).overdueShare(number),
                () -> AsyncTaskScheduler.builder(1).capacity(Math.min(number, -1), OnFullQueue.REJECT),
                () -> AsyncTaskScheduler.builder(1).maxWait(Priority.LOW, Duration.ofNanos(Math.min(number, -1))))) {
            var e = assertThrows(IllegalArgumentException.class, call);
            assertTrue(e.getMessage().contains("must "), e.getMessage());
        }
        assertEquals(1, scheduler.maxConcurrency());
    }

    @Test
    void builder_sayingEverything_buildsIt() {
        AsyncTaskScheduler built = AsyncTaskScheduler.builder(Integer.MAX_VALUE)
                .name("all")
                .executor(Runnable::run)
                .policy(PriorityPolicy.Strict.INSTANCE)
                .maxWait(Priority.LOW, Duration.ofSeconds(1))
                .overdueShare(2)
                .capacity(0, OnFullQueue.REJECT)
                .build();
        TaskSchedulerConfig config = built.kotlin().getConfig();
        assertEquals("all", built.kotlin().getName());
        assertSame(PriorityPolicy.Strict.INSTANCE, config.getPolicy());
        assertEquals("{LOW=1s}", config.getMaxWait().toString());
        assertEquals(List.of(2, 0), List.of(config.getOverdueShare(), config.getCapacity()));
        assertEquals(1, built.schedule(Priority.LOW, () -> 1, Runnable::run).join());
    }

    @Test
    void nulls_areRefusedByName() {
        Map<String, List<Executable>> calls = Map.of(
                "scheduler", List.of(() -> AsyncTaskScheduler.of(null)),
                "executor",
                        List.of(
                                () -> AsyncTaskScheduler.of(scheduler.kotlin(), null),
                                () -> scheduler.schedule(Priority.LOW, () -> 1, null),
                                () -> AsyncTaskScheduler.builder(1).executor(null)),
                "priority",
                        List.of(
                                () -> scheduler.schedule(null, () -> CompletableFuture.completedFuture(1)),
                                () -> scheduler.executor(null),
                                () -> AsyncTaskScheduler.builder(1).maxWait(null, Duration.ZERO)),
                "task", List.of(() -> scheduler.schedule(Priority.LOW, null)),
                "cause", List.of(() -> scheduler.close(null)),
                "name", List.of(() -> AsyncTaskScheduler.builder(1).name(null)),
                "policy", List.of(() -> AsyncTaskScheduler.builder(1).policy(null)),
                "wait", List.of(() -> AsyncTaskScheduler.builder(1).maxWait(Priority.LOW, null)),
                "onFull", List.of(() -> AsyncTaskScheduler.builder(1).capacity(1, null)));
        calls.forEach((name, refused) -> {
            for (Executable call : refused) {
                assertEquals(
                        name, assertThrows(NullPointerException.class, call).getMessage());
            }
        });
    }

    /** On JDK 17 such a pool accepts commands and never runs them. */
    @Test
    void executor_whereTheCommonPoolHasNoThread_isAnotherOne() {
        String key = "java.util.concurrent.ForkJoinPool.common.parallelism";
        String before = System.getProperty(key);
        System.setProperty(key, "0");
        try (AsyncTaskScheduler built = AsyncTaskScheduler.builder(1).build()) {
            AsyncTaskScheduler face = AsyncTaskScheduler.of(built.kotlin());
            for (AsyncTaskScheduler scheduler : List.of(built, face)) {
                String thread = Futures.await(scheduler.schedule(
                        Priority.NORMAL,
                        () -> CompletableFuture.completedFuture(
                                Thread.currentThread().getName())));
                assertTrue(thread.startsWith("DefaultDispatcher"), thread);
            }
        } finally {
            if (before == null) System.clearProperty(key);
            else System.setProperty(key, before);
        }
    }
}
