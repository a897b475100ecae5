package baton.interop.tasks;

import static baton.interop.Futures.await;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import baton.Priority;
import baton.interop.AsyncTaskScheduler;
import baton.scheduler.DispatcherMetrics;
import baton.scheduler.PriorityDispatcher;
import baton.scheduler.PriorityDispatchersKt;
import baton.scheduler.TaskSchedulerMetrics;
import java.lang.reflect.Method;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import kotlin.coroutines.EmptyCoroutineContext;
import kotlinx.coroutines.Dispatchers;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Java reads the durations of the metrics as {@code java.time.Duration}. */
class MetricsTest {
    @Test
    void taskSchedulerMetrics_readFromJava_haveWaitsAndRunTimes() {
        AsyncTaskScheduler scheduler = AsyncTaskScheduler.create(1);
        CompletableFuture<String> first = new CompletableFuture<>();
        CompletableFuture<String> run = scheduler.schedule(Priority.HIGH, () -> first);
        CompletableFuture<String> waiting =
                scheduler.schedule(Priority.HIGH, () -> CompletableFuture.completedFuture("second"));
        // The clock goes on between two calls: the task that waits has waited for more than nothing.
        while (scheduler.metrics().get(Priority.HIGH).headWait().isZero()) Thread.onSpinWait();
        TaskSchedulerMetrics.OfLevel during = scheduler.metrics().get(Priority.HIGH);
        assertEquals(Duration.ZERO, during.meanRun());
        assertEquals(Duration.ZERO, during.longestRun());
        first.complete("first");
        await(run);
        await(waiting);
        TaskSchedulerMetrics.OfLevel after = scheduler.metrics().get(Priority.HIGH);
        assertEquals(Duration.ZERO, after.headWait());
        assertTrue(after.longestWait().compareTo(during.headWait()) >= 0, after::toString);
        assertTrue(after.longestRun().compareTo(during.headWait()) >= 0, after::toString);
        assertTrue(after.meanWait().compareTo(Duration.ZERO) > 0, after::toString);
        assertTrue(after.meanWait().compareTo(after.longestWait()) <= 0, after::toString);
        assertTrue(after.meanRun().compareTo(Duration.ZERO) > 0, after::toString);
        assertTrue(after.meanRun().compareTo(after.longestRun()) <= 0, after::toString);
        assertEquals(Duration.ZERO, scheduler.metrics().get(Priority.LOW).meanWait());
    }

    @Test
    void dispatcherMetrics_readFromJava_haveWaits() {
        PriorityDispatcher dispatcher = PriorityDispatchersKt.prioritized(Dispatchers.getDefault(), 1);
        CompletableFuture<String> all = new CompletableFuture<>();
        int blocks = 1_000;
        for (int i = 0; i < blocks; i++) dispatcher.dispatch(EmptyCoroutineContext.INSTANCE, () -> {});
        dispatcher.dispatch(EmptyCoroutineContext.INSTANCE, () -> all.complete("done"));
        await(all);
        DispatcherMetrics.OfLevel normal = dispatcher.getMetrics().get(Priority.NORMAL);
        assertTrue(normal.getSampledWaits() > 0, normal::toString);
        assertTrue(normal.longestWait().compareTo(Duration.ZERO) > 0, normal::toString);
        assertTrue(normal.meanWait().compareTo(normal.longestWait()) <= 0, normal::toString);
    }

    /** Kotlin gives such a getter a name that is no Java identifier. */
    @ParameterizedTest
    @ValueSource(
            classes = {
                TaskSchedulerMetrics.class,
                TaskSchedulerMetrics.OfLevel.class,
                DispatcherMetrics.class,
                DispatcherMetrics.OfLevel.class
            })
    void everyDurationOfKotlin_hasAnAccessorForJava(Class<?> metrics) throws Exception {
        List<String> mangled = Arrays.stream(metrics.getMethods())
                .map(Method::getName)
                .filter(name -> name.contains("-"))
                .toList();
        for (String name : mangled) {
            String property = Character.toLowerCase(name.charAt(3)) + name.substring(4, name.indexOf('-'));
            assertEquals(Duration.class, metrics.getMethod(property).getReturnType());
        }
        assertEquals(metrics.getEnclosingClass() == null, mangled.isEmpty());
    }
}
