package guide.context;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;

import baton.interop.AsyncSemaphore;
import baton.interop.ContextPropagation;
import baton.interop.ContextPropagator;
import baton.interop.Permit;
import io.micrometer.context.ContextRegistry;
import io.micrometer.context.ContextSnapshot;
import io.micrometer.context.ContextSnapshotFactory;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Supplier;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.slf4j.MDC;

/** The examples of {@link ContextPropagator}, whose code {@code MarkdownTest} compares with the documentation. */
class ContextPropagatorExamplesTest {
    static class MdcPropagator implements ContextPropagator<Map<String, String>> {
        public Map<String, String> capture() {
            Map<String, String> map = MDC.getCopyOfContextMap();
            return map == null ? Map.of() : map;
        }

        public Runnable restore(Map<String, String> captured) {
            Map<String, String> before = capture();
            MDC.setContextMap(captured);
            return () -> MDC.setContextMap(before);
        }
    }

    static class MicrometerPropagator implements ContextPropagator<ContextSnapshot> {
        private final ContextSnapshotFactory factory =
                ContextSnapshotFactory.builder().clearMissing(true).build();

        public ContextSnapshot capture() {
            return factory.captureAll();
        }

        public Runnable restore(ContextSnapshot captured) {
            return captured.setThreadLocals()::close;
        }
    }

    private static final String KEY = "user";
    private static final ThreadLocal<String> USER = new ThreadLocal<>();

    @AfterEach
    void disable() {
        ContextPropagation.disable();
        MDC.clear();
        USER.remove();
        ContextRegistry.getInstance().removeThreadLocalAccessor(KEY);
    }

    /** Returns the users that two actions see: one caller has no user, one is alice, and bob releases both permits. */
    private static String seen(Supplier<String> user, Runnable becomeAlice, Runnable becomeBob) {
        AsyncSemaphore semaphore = AsyncSemaphore.create(1);
        Permit held = semaphore.acquire().join();
        AtomicReference<String> seen = new AtomicReference<>("");
        Supplier<CompletableFuture<Integer>> action = () -> {
            seen.updateAndGet(before -> before + user.get() + ", ");
            return CompletableFuture.completedFuture(1);
        };
        CompletableFuture<Integer> first = semaphore.withPermit(action);
        becomeAlice.run();
        CompletableFuture<Integer> second = semaphore.withPermit(action);
        becomeBob.run();
        held.close();
        first.join();
        second.join();
        return seen.get() + user.get();
    }

    @Test
    void mdcPropagator_showsActionsTheMapOfTheirCaller() {
        ContextPropagation.enable(new MdcPropagator());
        String seen = seen(() -> MDC.get(KEY), () -> MDC.put(KEY, "alice"), () -> MDC.put(KEY, "bob"));
        assertEquals("null, alice, bob", seen);
    }

    @Test
    void micrometerPropagator_showsActionsTheThreadLocalsOfTheirCaller() {
        ContextRegistry.getInstance().registerThreadLocalAccessor(KEY, USER);
        ContextPropagation.enable(new MicrometerPropagator());
        assertNull(USER.get());
        assertEquals("null, alice, bob", seen(USER::get, () -> USER.set("alice"), () -> USER.set("bob")));
    }

    private static final Object TENANT = new Object();

    /** That of docs/context.md. On older JDKs there are no scoped values, and on newer ones these are none. */
    @Test
    void scopedValues_thatAreNone_areRefused() {
        assertThrows(RuntimeException.class, () -> {
            ContextPropagation.enable(ContextPropagator.ofScopedValues(USER, TENANT));
        });
    }
}
