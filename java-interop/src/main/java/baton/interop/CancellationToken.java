package baton.interop;

import baton.interop.internal.cancel.CancellableWork;
import baton.interop.internal.futures.Stages;
import java.util.Objects;
import java.util.concurrent.CancellationException;
import org.jspecify.annotations.Nullable;

/**
 * Shows a {@link CancellableFunction} whether its result is still wanted, and runs its teardowns when it is not.
 *
 * <pre>{@code
 * CancellableFuture<Integer> sum = CancellableFuture.supply(pool, token -> {
 *     int total = 0;
 *     for (int number : numbers) {
 *         token.throwIfCancelled();
 *         total += number;
 *     }
 *     return total;
 * });
 * }</pre>
 *
 * <p>The token is cancelled when its {@link CancellableFuture} is cancelled, directly or by the stages derived from it,
 * or is completed from outside. The token stays uncancelled if the function ends first, with a value or without.
 *
 * <p><i>Teardowns.</i> Each teardown registered by {@link #onCancel} runs exactly once if the work ends without the
 * function's value: cancelled, completed from outside, or failed. If the future completes with the function's value,
 * none runs. Teardowns run one after another, the last registered first. If the work is cancelled, they run on the
 * cancelling thread, after the future is done and its callbacks have run. If several threads end the stages derived
 * from the future at the same time, it is the last of these threads, after the callbacks of all. If the function fails,
 * they run on the function's thread, before the future is done. An exception that a teardown throws is added as suppressed to the
 * failure of the future; if the future was completed with a value from outside, the exception goes to the thread's
 * handler for uncaught exceptions.
 *
 * <p><i>Memory.</i> Actions before a cancel happen before the actions that follow a call of {@link #isCancelled} which
 * returns true, and before the teardowns. Actions before the registration of a teardown happen before that teardown.
 *
 * <p>All methods but {@link #interruptible} may be called from any thread.
 */
public final class CancellationToken {
    private final CancellableWork work;

    CancellationToken(CancellableWork work) {
        this.work = work;
    }

    /**
     * Registers a teardown for the case that the work is cancelled, or ends without a value in another way. If that has
     * happened already, runs the teardown at once, on this thread. If the future has the function's value, does
     * nothing.
     */
    public void onCancel(Runnable teardown) {
        work.addTeardown(Objects.requireNonNull(teardown, "teardown"));
    }

    /** Whether the work is no longer wanted. Once true, it stays true. */
    public boolean isCancelled() {
        return reason() != null;
    }

    /**
     * The reason for which the work is no longer wanted: the argument of {@link CancellableFuture#cancel(Throwable)};
     * or the exception with which the future was completed from outside (a {@link
     * java.util.concurrent.TimeoutException} for {@code orTimeout}); else a {@link CancellationException}. Null while
     * the token is not cancelled.
     */
    public @Nullable Throwable reason() {
        return work.reason();
    }

    /**
     * Throws if the work is no longer wanted; otherwise does nothing.
     *
     * @throws CancellationException if the token is cancelled, with {@link #reason} as its cause
     */
    public void throwIfCancelled() {
        Throwable reason = reason();
        if (reason != null) throw Stages.cancellation(reason);
    }

    /**
     * Lets a cancel interrupt the function's thread, from this call until the function ends. Use it for functions that
     * block in calls which react only to interrupts. If the token is cancelled already, the thread is interrupted at
     * once. The thread is never interrupted before this call or after the function; an interrupt that the function has
     * not noticed is cleared.
     *
     * @throws IllegalStateException if this is not the function's thread, or the function has ended
     */
    public void interruptible() {
        work.interruptFromNowOn();
    }

    @Override
    public String toString() {
        return "CancellationToken (" + work.describe() + ")";
    }
}
