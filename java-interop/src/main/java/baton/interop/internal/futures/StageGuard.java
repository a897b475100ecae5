package baton.interop.internal.futures;

import baton.bridge.FutureGuard;
import baton.interop.AsyncCallGuard;
import baton.waiting.threads.Trampoline;
import java.time.Duration;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.BiConsumer;
import org.jspecify.annotations.Nullable;

/** A guard of an application, for futures, threads and coroutines. */
public final class StageGuard extends FutureGuard {
    /** No limit. A greater Duration has no number of nanoseconds, for which the guard may ask. */
    private static final Duration LONGEST = Duration.ofNanos(Long.MAX_VALUE);

    private final AsyncCallGuard guard;

    public StageGuard(AsyncCallGuard guard) {
        this.guard = guard;
    }

    @Override
    public CompletableFuture<AutoCloseable> admit(@Nullable Duration maxWait) {
        Admission admission = new Admission(guard);
        try {
            admission.request(maxWait == null || maxWait.compareTo(LONGEST) > 0 ? LONGEST : maxWait);
        } catch (Throwable e) {
            admission.completeExceptionally(e);
        }
        return admission;
    }

    /** Closes a value that no call uses. */
    public static void closeUnused(AutoCloseable held) {
        try {
            held.close();
        } catch (Throwable e) {
            Trampoline.report(e);
        }
    }

    @Override
    public String toString() {
        return guard.toString();
    }

    /** A request at a guard. A value that arrives after this was cancelled is closed. */
    private static final class Admission extends CompletableFuture<AutoCloseable>
            implements BiConsumer<@Nullable AutoCloseable, @Nullable Throwable> {
        private final AsyncCallGuard guard;
        private @Nullable CompletionStage<? extends AutoCloseable> stage;

        Admission(AsyncCallGuard guard) {
            this.guard = guard;
        }

        void request(Duration maxWait) {
            stage = Objects.requireNonNull(guard.acquire(maxWait), "the guard returned null instead of a stage");
            var unused = stage.whenComplete(this);
        }

        @Override
        public void accept(@Nullable AutoCloseable held, @Nullable Throwable failure) {
            if (failure != null) completeExceptionally(Stages.unwrap(failure));
            else if (held == null) completeExceptionally(new NullPointerException("the guard admitted with null"));
            else if (!complete(held)) closeUnused(held);
        }

        @Override
        public boolean cancel(boolean mayInterruptIfRunning) {
            if (stage instanceof RevocableFuture<?> request) request.cancel(false);
            return super.cancel(false);
        }

        @Override
        public String toString() {
            return "acquire of " + guard;
        }
    }
}
