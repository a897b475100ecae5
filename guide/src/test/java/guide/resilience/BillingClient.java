package guide.resilience;

import baton.interop.AsyncCircuitBreaker;
import baton.interop.AsyncPipeline;
import baton.interop.AsyncRateLimiter;
import baton.interop.AsyncRetry;
import baton.interop.AsyncSemaphore;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;

final class BillingClient {
    private final HttpClient http = HttpClient.newHttpClient();
    private final AsyncPipeline upstream = AsyncPipeline.builder("billing")
            .retry(AsyncRetry.builder().maxAttempts(3).build())
            .breaker(AsyncCircuitBreaker.create("billing"))
            .limiter(AsyncRateLimiter.tokenBucket(100, Duration.ofSeconds(1)))
            .semaphore(AsyncSemaphore.create(10))
            .maxWait(Duration.ofMillis(200)) // for a permit of the limiter, and for one of the semaphore
            .attemptTimeout(Duration.ofSeconds(2))
            .build();

    CompletableFuture<String> send(HttpRequest request) {
        return upstream.call(
                () -> http.sendAsync(request, BodyHandlers.ofString()).thenApply(HttpResponse::body));
    }

    String sendBlocking(HttpRequest request) throws Exception { // on a virtual thread, say
        return upstream.blocking()
                .call(() -> http.send(request, BodyHandlers.ofString()).body());
    }
}
