package baton.interop;

import baton.interop.internal.blocking.ThreadRetry;
import baton.resilience.RetryPolicy;
import java.time.Duration;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.function.Function;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * Retries for threads that may block: virtual threads above all. Made by {@link AsyncRetry#blocking()}.
 *
 * <pre>{@code
 * String body = retry.blocking().call(() -> client.send(request, BodyHandlers.ofString()).body());
 * }</pre>
 *
 * <p>All attempts run on the calling thread, which parks between them, so a virtual thread leaves its carrier.
 *
 * <p><i>Interrupts.</i> An interrupt ends a wait, and there is no attempt on an interrupted thread: the call throws
 * {@link InterruptedException}. An attempt that throws it is not retried.
 *
 * <p><i>Timeouts.</i> An attempt that takes longer than {@code attemptTimeout} is interrupted. It has failed with
 * {@link baton.resilience.AttemptTimeoutException} when it throws then; a value that it returns is a success. The
 * interrupt is cleared when the attempt has ended. Another interrupt between the timeout and that end looks the same,
 * and is cleared with it; an interrupt from before the timeout stays. An attempt that ignores interrupts runs to its
 * end.
 *
 * <p><i>Results.</i> A value that {@code retryResult} is true for is dropped when another attempt follows, and when the
 * thread is interrupted, in the last attempt too. So a value that has to be closed is no case for {@code retryResult}:
 * the action closes it and throws an exception that {@code retryIf} is true for.
 *
 * <p><i>Failures.</i> The last failure is thrown, with the ten failures before it as suppressed. The cause of a
 * CompletionException or ExecutionException stands for it, as in the futures.
 */
public final class BlockingRetry {
    private final RetryPolicy policy;

    BlockingRetry(RetryPolicy policy) {
        this.policy = policy;
    }

    /** Calls {@code action} until it returns, at most as often as the policy allows, and returns its value. */
    public <T extends @Nullable Object> T call(Callable<T> action) throws Exception {
        Objects.requireNonNull(action, "action");
        return ThreadRetry.call(policy, action, null, null);
    }

    /**
     * As {@link #call(Callable)}, but repeats the action also after a value that {@code retryResult} is true for. If
     * there is no other attempt, the call returns that value.
     *
     * @param retryAfter the time that such a value asks to wait at least
     */
    public <T extends @Nullable Object> T call(
            Callable<T> action, Predicate<? super T> retryResult, Function<? super T, Optional<Duration>> retryAfter)
            throws Exception {
        Objects.requireNonNull(action, "action");
        Objects.requireNonNull(retryResult, "retryResult");
        Objects.requireNonNull(retryAfter, "retryAfter");
        return ThreadRetry.call(policy, action, retryResult, retryAfter);
    }

    @Override
    public String toString() {
        return "BlockingRetry of " + policy;
    }
}
