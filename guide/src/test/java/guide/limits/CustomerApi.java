package guide.limits;

import baton.interop.AsyncRateLimiter;
import baton.interop.AsyncRateLimiters;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.function.Function;

final class CustomerApi {
    private final AsyncRateLimiters<String> perCustomer = AsyncRateLimiters.create(
            AsyncRateLimiter.builder(10, Duration.ofSeconds(1)).burst(20).name("customers"));
    private final Function<String, CompletableFuture<String>> load;

    CustomerApi(Function<String, CompletableFuture<String>> load) {
        this.load = load;
    }

    /** Waits for its turn. */
    CompletableFuture<String> get(String customer) {
        return perCustomer.withPermit(customer, () -> load.apply(customer));
    }

    /** Fails with a {@code PermitTimeoutException}, at once, if the turn cannot come within 100 ms. */
    CompletableFuture<String> getSoon(String customer) {
        return perCustomer.withPermit(customer, () -> load.apply(customer), Duration.ofMillis(100));
    }

    /** Whether a request may be served now. */
    boolean mayServe(String customer) {
        return perCustomer.tryAcquire(customer);
    }
}
