package baton.interop.internal.blocking;

import baton.bridge.RetryBridge;
import baton.bridge.RetryCall;
import baton.interop.internal.futures.Stages;
import baton.interop.internal.futures.Timeout;
import baton.resilience.RetryPolicy;
import baton.waiting.Parking;
import baton.waiting.ThreadWaiter;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.function.Function;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/** A retry whose attempts run on the calling thread. */
public final class ThreadRetry {
    private ThreadRetry() {}

    /**
     * Runs the attempts.
     *
     * @param retryResult null if every value is accepted
     * @param retryAfter not null if {@code retryResult} is not
     */
    public static <T extends @Nullable Object> T call(
            RetryPolicy policy,
            Callable<T> action,
            @Nullable Predicate<? super T> retryResult,
            @Nullable Function<? super T, Optional<Duration>> retryAfter)
            throws Exception {
        RetryBridge.requireReal(policy);
        ThreadWaiter.throwIfInterrupted();
        RetryCall call = new RetryCall(policy);
        Duration limit = RetryBridge.attemptTimeout(policy);
        while (true) {
            T value;
            try {
                value = limit == null ? action.call() : AttemptTimer.call(action, limit, call);
            } catch (Throwable thrown) {
                Throwable e = Stages.unwrap(thrown);
                if (!call.isRetryable(e)) throw Stages.asException(call.ending(e));
                throwIfInterrupted(e);
                if (!call.advance(e)) throw Stages.asException(call.ending(e));
                await(call);
                continue;
            }
            if (retryResult == null || retryAfter == null || !retryResult.test(value)) {
                RetryBridge.succeeded(policy);
                return value;
            }
            ThreadWaiter.throwIfInterrupted();
            if (!call.advance(value, retryAfter)) {
                Throwable why = call.failureAfter(value);
                if (why != null) throw Stages.asException(why);
                return value;
            }
            await(call);
        }
    }

    private static void throwIfInterrupted(Throwable failure) throws InterruptedException {
        if (!Thread.interrupted()) return;
        InterruptedException e = new InterruptedException();
        e.addSuppressed(failure);
        throw e;
    }

    /** Waits for at least the delay, however early the thread is unparked. */
    private static void await(RetryCall call) throws InterruptedException {
        long nanos = Timeout.nanos(call.getDelay());
        long start = System.nanoTime();
        for (long left = nanos; left > 0; left = Parking.left(nanos, start)) {
            ThreadWaiter.throwIfInterrupted();
            Parking.park(call, left);
        }
        ThreadWaiter.throwIfInterrupted();
    }
}
