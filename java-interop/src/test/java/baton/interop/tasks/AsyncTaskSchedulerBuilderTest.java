package baton.interop.tasks;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertTrue;

import baton.Priority;
import baton.interop.AsyncTaskScheduler;
import baton.interop.Futures;
import baton.interop.TaskOptions;
import baton.scheduler.OnFullQueue;
import baton.scheduler.PriorityPolicy;
import baton.scheduler.TaskSchedulerConfig;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;

/** The settings of the builder, and the values that it refuses. */
class AsyncTaskSchedulerBuilderTest {
    private final AsyncTaskScheduler scheduler = AsyncTaskScheduler.create(1);

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
        assertEquals(
                1,
                built.schedule(TaskOptions.of(Priority.LOW).withExecutor(Runnable::run), () -> 1)
                        .join());
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
