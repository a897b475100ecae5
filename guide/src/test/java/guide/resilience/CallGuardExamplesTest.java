package guide.resilience;

import static org.junit.jupiter.api.Assertions.assertEquals;

import baton.interop.AsyncCallGuard;
import baton.interop.AsyncPipeline;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;

/** The guard in docs/resilience.md. */
class CallGuardExamplesTest {
    /** A client of a service of quotas. */
    private static final class Quotas {
        final List<String> calls = new ArrayList<>();

        CompletableFuture<String> take(String account, Duration maxWait) {
            calls.add("take " + account);
            return CompletableFuture.completedFuture("lease of " + account);
        }

        void giveBack(String lease) {
            calls.add("give back " + lease);
        }
    }

    @Test
    void guardOfAnApplication_isTakenAndGivenBack() {
        Quotas quotas = new Quotas();
        String account = "42";
        AsyncCallGuard quota =
                maxWait -> quotas.take(account, maxWait).thenApply(lease -> () -> quotas.giveBack(lease));
        AsyncPipeline upstream =
                AsyncPipeline.builder("billing").semaphore(quota).build();
        CompletableFuture<Integer> call = upstream.call(() -> CompletableFuture.completedFuture(quotas.calls.size()));
        assertEquals(1, call.join());
        assertEquals(List.of("take 42", "give back lease of 42"), quotas.calls);
    }
}
