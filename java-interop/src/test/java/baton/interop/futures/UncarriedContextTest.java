package baton.interop.futures;

import static org.junit.jupiter.api.Assertions.assertEquals;

import baton.interop.AsyncCircuitBreaker;
import baton.interop.AsyncPipeline;
import baton.interop.AsyncSchedule;
import baton.interop.ContextPropagation;
import baton.interop.ContextPropagator;
import baton.interop.Futures;
import baton.interop.Triggers;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Code that belongs to no caller, by the table of docs/context.md. */
@Timeout(300)
class UncarriedContextTest {
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

    @AfterEach
    void disable() {
        ContextPropagation.disable();
        USER.remove();
    }

    @Test
    void actionOfASchedule_seesNeitherItsStarterNorTheCallerOfPut() {
        ContextPropagation.enable(new UserPropagator());
        CompletableFuture<String> seen = new CompletableFuture<>();
        CompletableFuture<String> seenByABlockingOne = new CompletableFuture<>();
        USER.set("ann");
        try (AsyncSchedule<String> jobs = AsyncSchedule.<String>builder(due -> {
                            seen.complete(USER.get());
                            return CompletableFuture.completedFuture(null);
                        })
                        .start();
                AsyncSchedule<String> blocking = AsyncSchedule.<String>blockingBuilder(
                                due -> seenByABlockingOne.complete(USER.get()))
                        .start()) {
            for (AsyncSchedule<String> each : List.of(jobs, blocking)) {
                each.put("a", Triggers.every(Duration.ofDays(1)));
                each.triggerNow("a");
            }
            assertEquals("none", Futures.await(seen));
            assertEquals("none", Futures.await(seenByABlockingOne));
        }
    }

    @Test
    void guardOfAPipeline_seesTheThreadThatBeginsTheAttempt() {
        ContextPropagation.enable(new UserPropagator());
        List<String> seen = new ArrayList<>();
        CompletableFuture<AutoCloseable> turn = new CompletableFuture<>();
        AsyncPipeline pipeline = AsyncPipeline.builder(null)
                .limiter(maxWait -> {
                    seen.add(USER.get());
                    return turn;
                })
                .semaphore(maxWait -> {
                    seen.add(USER.get());
                    return CompletableFuture.completedFuture(() -> {});
                })
                .build();
        USER.set("ann");
        CompletableFuture<String> call = pipeline.call(() -> CompletableFuture.completedFuture(USER.get()));
        USER.set("operator");
        turn.complete(() -> {});
        assertEquals("ann", call.join());
        assertEquals(List.of("ann", "operator"), seen);
    }

    @Test
    void listenerOfABreaker_seesTheThreadThatMadeTheChange() {
        ContextPropagation.enable(new UserPropagator());
        AsyncCircuitBreaker breaker = AsyncCircuitBreaker.create("bank");
        List<String> seen = new ArrayList<>();
        USER.set("ann");
        breaker.onChange((from, to) -> seen.add(USER.get()));
        USER.set("operator");
        breaker.trip();
        assertEquals(List.of("operator"), seen);
    }
}
