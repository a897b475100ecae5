package baton.interop;

import baton.bridge.BreakerBridge;
import baton.interop.internal.blocking.CallStart;
import baton.interop.internal.blocking.ThreadCountdown;
import baton.interop.internal.futures.Stages;
import baton.resilience.CircuitBreaker;
import baton.resilience.CircuitOpenException;
import baton.waiting.ThreadWaiter;
import java.time.Duration;
import java.util.Objects;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;

/**
 * A {@link CircuitBreaker} for threads that may block: virtual threads above all. Made by
 * {@link AsyncCircuitBreaker#blocking()}.
 *
 * <pre>{@code
 * String body = breaker.blocking().call(() -> client.send(request, BodyHandlers.ofString()).body());
 * }</pre>
 *
 * <p>It has no state of its own. A thread that waits for the breaker to close parks, so a virtual thread leaves its
 * carrier.
 *
 * <p><i>Interrupts.</i> An action that throws {@link InterruptedException} counts as nothing, and so does every failure
 * on a thread that is interrupted then; a probe gives its place back. An interrupt ends a wait, unless the breaker was
 * closed just before; then the call returns and the thread stays interrupted.
 *
 * <p><i>Failures.</i> The failure of the action is thrown. The cause of a CompletionException or ExecutionException
 * stands for it, as in the futures.
 */
public final class BlockingCircuitBreaker {
    private final CircuitBreaker breaker;
    private final ThreadCountdown closing;

    BlockingCircuitBreaker(CircuitBreaker breaker) {
        this.breaker = breaker;
        this.closing =
                new ThreadCountdown(BreakerBridge.of(breaker), () -> BreakerBridge.isPassing(breaker) ? 0 : 1, breaker);
    }

    /**
     * Runs {@code action} if the breaker lets the call in, counts its result, and returns its value.
     *
     * @throws CircuitOpenException if the call was refused; the action was not run then
     * @throws InterruptedException if the thread is interrupted before the call; then nothing was done
     */
    public <T extends @Nullable Object> T call(Callable<T> action) throws Exception {
        Objects.requireNonNull(action, "action");
        return call(breaker, start -> action.call());
    }

    static <T extends @Nullable Object> T call(
            CircuitBreaker breaker, BlockingFunction<? super CallStart, ? extends T> action) throws Exception {
        ThreadWaiter.throwIfInterrupted();
        CallStart start = new CallStart(breaker);
        Object call = BreakerBridge.enter(breaker, start.nanos());
        T value;
        try {
            value = action.apply(start);
        } catch (Throwable thrown) {
            Throwable e = Stages.unwrap(thrown);
            boolean isInterrupted =
                    e instanceof InterruptedException || Thread.currentThread().isInterrupted();
            BreakerBridge.failed(breaker, call, start.nanos(), e, !isInterrupted);
            throw Stages.asException(e);
        }
        BreakerBridge.succeeded(breaker, call, start.nanos(), value);
        return value;
    }

    /**
     * Waits until the breaker lets calls through. It is no probe: some other caller must call, or reset the breaker.
     */
    public void awaitClosed() throws InterruptedException {
        closing.await();
    }

    /** As {@link #awaitClosed()}, but waits {@code timeout} at most. Returns whether calls were let through in time. */
    public boolean awaitClosed(Duration timeout) throws InterruptedException {
        return closing.await(timeout);
    }

    @Override
    public String toString() {
        return "Blocking" + breaker;
    }
}
