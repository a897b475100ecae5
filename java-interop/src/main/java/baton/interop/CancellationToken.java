package baton.interop;

import baton.interop.internal.cancel.CancellableWork;
import baton.interop.internal.futures.Stages;
import java.util.Objects;
import java.util.concurrent.CancellationException;
import org.jspecify.annotations.Nullable;

/**
 * Tells a {@link CancellableFunction} whether its answer is still wanted, and what to do when it is not.
 *
 * <p>It is cancelled when its {@link CancellableFuture} is cancelled, directly or by the stages derived from it, or is
 * completed from outside. It stays uncancelled when the function ends first, with a value or without.
 *
 * <p><i>Teardowns.</i> Each that was registered by {@link #onCancel} runs exactly once if the work ends without the
 * function's value: cancelled, completed from outside, or failed. None runs when the function's value was taken. The
 * last registered runs first, one after another: on the thread that cancels, after the future is done and its callbacks
 * have run; or on the function's thread when the function has failed, before the future is done. What they throw is
 * attached to what the future failed with, as suppressed; where it was completed with a value from outside, it goes to
 * the thread's handler for uncaught exceptions.
 *
 * <p><i>Memory.</i> What happens before a cancel happens before what follows {@link #isCancelled} that answers true,
 * and before the teardowns; so does what happens before the registration of a teardown.
 *
 * <p>All members but {@link #interruptible} may be called from any thread.
 */
public final class CancellationToken {
    private final CancellableWork work;

    CancellationToken(CancellableWork work) {
        this.work = work;
    }

    /**
     * Registers what is to be done when the work is cancelled, or ends without a value in another way. Runs it at once,
     * on this thread, if that has happened already; does nothing if the function's value was taken.
     */
    public void onCancel(Runnable teardown) {
        work.addTeardown(Objects.requireNonNull(teardown, "teardown"));
    }

    /** Whether the work is no longer wanted. Once true, it stays true. */
    public boolean isCancelled() {
        return reason() != null;
    }

    /**
     * Why the work is no longer wanted: what was given to {@link CancellableFuture#cancel(Throwable)}, the exception it
     * was completed with from outside (a {@link java.util.concurrent.TimeoutException} for {@code orTimeout}), else a
     * {@link CancellationException}. Null while it is not cancelled.
     */
    public @Nullable Throwable reason() {
        return work.reason();
    }

    /**
     * Does nothing while the work is wanted.
     *
     * @throws CancellationException if it is not, with {@link #reason} as its cause
     */
    public void throwIfCancelled() {
        Throwable reason = reason();
        if (reason != null) throw Stages.cancellation(reason);
    }

    /**
     * From now on and until the function ends, a cancel interrupts its thread: for functions that block in calls which
     * know of nothing else. At once if it is cancelled already. The thread is never interrupted before this call nor
     * after the function, and the interrupt is taken back if the function has not noticed it.
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
