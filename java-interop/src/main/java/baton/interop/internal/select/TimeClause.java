package baton.interop.internal.select;

import baton.bridge.Durations;
import baton.waiting.threads.Timeouts;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Supplier;
import kotlinx.coroutines.DisposableHandle;
import org.jspecify.annotations.Nullable;

/** A clause that wins once its timeout has passed. */
final class TimeClause<R extends @Nullable Object> implements Clause<R> {
    private final long millis;
    private final Supplier<? extends R> then;

    TimeClause(long millis, Supplier<? extends R> then) {
        this.millis = millis;
        this.then = then;
    }

    @Override
    public boolean isLast() {
        return true;
    }

    @Override
    public Attempt attempt(SelectFuture<R> call) {
        return new Timer(call);
    }

    private final class Timer implements Attempt {
        private final SelectFuture<R> call;
        private final AtomicBoolean withdrawn = new AtomicBoolean();
        private volatile @Nullable DisposableHandle handle;

        Timer(SelectFuture<R> call) {
            this.call = call;
        }

        @Override
        public void start() {
            if (millis == 0) {
                call.win(this, false);
                return;
            }
            DisposableHandle started = Timeouts.schedule(millis, () -> call.win(this, false));
            handle = started;
            // The withdrawing thread reads `handle` after it has written `withdrawn`, so one of the two threads stops
            // it.
            if (withdrawn.get()) started.dispose();
        }

        @Override
        public void withdraw() {
            withdrawn.set(true);
            DisposableHandle started = handle;
            if (started != null) started.dispose();
        }

        @Override
        public void finish() {
            call.finish(timer -> then.get(), this, null);
        }

        @Override
        public String description() {
            return "timeout of " + Durations.textOf(Duration.ofMillis(millis));
        }

        @Override
        public void undo() {}
    }
}
