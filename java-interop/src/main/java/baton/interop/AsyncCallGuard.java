package baton.interop;

import java.time.Duration;
import java.util.concurrent.CompletionStage;

/**
 * A guard of an application, as limiter or semaphore of an {@link AsyncPipeline}: a quota, a lock over a network. The
 * counterpart of {@link baton.CallGuard}, which coroutines implement.
 *
 * <pre>{@code
 * record Quota(QuotaClient quotas, String account) implements AsyncCallGuard {
 *     @Override
 *     public CompletionStage<AutoCloseable> acquire(Duration maxWait) {
 *         return quotas.take(account, maxWait).thenCompose(isTaken -> isTaken
 *                 ? CompletableFuture.completedFuture(() -> quotas.giveBack(account))
 *                 : CompletableFuture.failedFuture(
 *                         new PermitTimeoutException("no quota of " + account + " within " + maxWait)));
 *     }
 * }
 * AsyncPipeline upstream = AsyncPipeline.builder("billing").semaphore(new Quota(quotas, "42")).build();
 * }</pre>
 */
@FunctionalInterface
public interface AsyncCallGuard {
    /**
     * Requests admission of one call, and returns a stage. When the stage completes, the call begins:
     * of a future on the completing thread, of a coroutine or a blocked thread on its own. The value of the stage is
     * closed once, when the call has ended. An exception of {@code close} fails a call that had a value, and is
     * suppressed in the failure of another.
     *
     * <p><i>Threads.</i> Called on the caller's thread, or on another one for a retry, for a hedge, and after a wait for
     * the limiter. So it must neither block nor rely on thread locals.
     *
     * <p><i>Refusals.</i> A stage that does not admit the call in time must fail with {@link
     * baton.PermitTimeoutException}, and any other refusal must be a {@link baton.Refusal}: the breaker does not count
     * these. Every other failure, also of this method, is a failure of the callee. So is a null for the stage or its
     * value.
     *
     * <p><i>Cancellation.</i> A call that is cancelled or interrupted while it waits here ends at once. If the stage is
     * a request of Baton's own, such as {@link AsyncSemaphore#acquire()} returns, the request is withdrawn. Another
     * stage is not cancelled, because a cancelled CompletableFuture drops the value of the request behind it: the value
     * is closed when it arrives.
     *
     * @param maxWait how long to wait, never negative; zero to admit the call now or not at all. {@code
     *     Duration.ofNanos(Long.MAX_VALUE)} if there is no limit.
     */
    CompletionStage<? extends AutoCloseable> acquire(Duration maxWait);
}
