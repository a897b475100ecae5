package baton.interop.futures;

import static baton.interop.Futures.await;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import baton.Priority;
import baton.interop.AsyncMutex;
import baton.interop.AsyncSemaphore;
import baton.interop.AsyncTaskScheduler;
import baton.interop.ContextPropagation;
import baton.interop.ContextPropagator;
import baton.interop.Permit;
import baton.interop.TaskScope;
import baton.interop.Tasks;
import java.lang.reflect.InvocationTargetException;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ForkJoinPool;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** {@code ScopedValue}s, where the JDK has them; by reflection, since the oldest JDK has none. */
@Timeout(300)
@Tag("jdk")
class ScopedValuePropagationTest {
    private static final boolean EXIST = Runtime.version().feature() >= 25;

    @AfterEach
    void disable() {
        ContextPropagation.disable();
    }

    private static Object newValue() throws Exception {
        assumeTrue(EXIST, "no ScopedValue in this JDK");
        return Class.forName("java.lang.ScopedValue").getMethod("newInstance").invoke(null);
    }

    private static String valueOf(Object key) {
        try {
            Class<?> type = Class.forName("java.lang.ScopedValue");
            return (boolean) type.getMethod("isBound").invoke(key)
                    ? (String) type.getMethod("get").invoke(key)
                    : "none";
        } catch (ReflectiveOperationException e) {
            throw new AssertionError(e);
        }
    }

    private static <T> T as(Object key, String value, Callable<T> call) throws Exception {
        Class<?> type = Class.forName("java.lang.ScopedValue");
        Object carrier = type.getMethod("where", type, Object.class).invoke(null, key, value);
        var result = new AtomicReference<T>();
        Runnable run = () -> {
            try {
                result.set(call.call());
            } catch (Exception e) {
                throw new IllegalStateException(e);
            }
        };
        try {
            Class.forName("java.lang.ScopedValue$Carrier")
                    .getMethod("run", Runnable.class)
                    .invoke(carrier, run);
        } catch (InvocationTargetException e) {
            throw new AssertionError(e.getCause());
        }
        return result.get();
    }

    @Test
    void code_thatRunsLater_seesTheScopedValuesOfItsCaller() throws Exception {
        Object user = newValue();
        Object tenant = newValue();
        ContextPropagation.enable(ContextPropagator.ofScopedValues(user, tenant));
        var semaphore = AsyncSemaphore.create(1);
        Permit held = await(semaphore.acquire());
        var seen = as(
                user,
                "ann",
                () -> semaphore.withPermit(() -> valueOf(user) + " " + valueOf(tenant), ForkJoinPool.commonPool()));
        as(
                user,
                "releaser",
                () -> as(tenant, "other", () -> {
                    held.close();
                    return held;
                }));
        assertEquals("ann none", await(seen));
        assertEquals("none", valueOf(user));
    }

    @Test
    void dependents_ofARequestThatWaited_seeThem() throws Exception {
        Object user = newValue();
        ContextPropagation.enable(ContextPropagator.ofScopedValues(user));
        var mutex = AsyncMutex.create();
        Permit held = await(mutex.lock());
        var seen = as(user, "ann", () -> mutex.lock().thenApply(permit -> valueOf(user)));
        as(user, "releaser", () -> {
            held.close();
            return held;
        });
        assertEquals("ann", await(seen));
    }

    @Test
    void tasksForksAndVirtualThreads_seeThem() throws Exception {
        Object user = newValue();
        ContextPropagation.enable(ContextPropagator.ofScopedValues(user));
        try (var scheduler = AsyncTaskScheduler.create(1)) {
            CompletableFuture<String> task =
                    as(user, "ann", () -> scheduler.schedule(Priority.NORMAL, () -> valueOf(user)));
            assertEquals("ann", await(task));
        }
        String forked = as(user, "bob", () -> {
            try (var scope = TaskScope.openVirtual()) {
                return await(scope.fork(() -> valueOf(user)));
            }
        });
        assertEquals("bob", forked);
        List<String> mapped =
                as(user, "cleo", () -> Tasks.blocking().mapLimit(List.of(1, 2), 2, i -> valueOf(user) + i));
        assertEquals(List.of("cleo1", "cleo2"), mapped);
    }

    @Test
    void ofScopedValues_ofAnotherObject_isRefused() {
        assumeTrue(EXIST, "no ScopedValue in this JDK");
        var refused =
                assertThrows(IllegalArgumentException.class, () -> ContextPropagator.ofScopedValues("no scoped value"));
        assertEquals("values contain no scoped value, must be ScopedValues", refused.getMessage());
    }

    @Test
    void ofScopedValues_onAJdkWithoutThem_isRefused() {
        assumeTrue(Runtime.version().feature() < 21, "there may be scoped values in this JDK");
        assertThrows(UnsupportedOperationException.class, () -> ContextPropagator.ofScopedValues());
    }
}
