package baton.interop.internal.select;

import baton.interop.internal.futures.Stages;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * A clause that waits for a stage.
 *
 * @param <V> what the stage completes with
 */
final class StageClause<V extends @Nullable Object, R extends @Nullable Object> implements Clause<R> {
    private final CompletionStage<? extends V> stage;
    private final Function<? super V, ? extends R> then;

    StageClause(CompletionStage<? extends V> stage, Function<? super V, ? extends R> then) {
        this.stage = stage;
        this.then = then;
    }

    @Override
    public Attempt attempt(SelectFuture<R> call) {
        return new Listener(call);
    }

    private final class Listener implements Attempt {
        private final SelectFuture<R> call;

        /** Ends the listening. */
        private final CompletableFuture<@Nullable Void> over = new CompletableFuture<>();

        private @Nullable V value;
        private @Nullable Throwable failure;

        Listener(SelectFuture<R> call) {
            this.call = call;
        }

        /**
         * Of {@code anyOf} what it listens with is taken off a future that goes on when another one has completed. So a
         * million selects that lose leave nothing at a future that none of them ends.
         */
        @Override
        public void start() {
            try {
                var unused = CompletableFuture.anyOf(future(), over).whenComplete(this::ended);
            } catch (Throwable e) { // A stage of the user's own: the clauses before this one wait already.
                ended(null, e);
            }
        }

        private CompletableFuture<? extends V> future() {
            try {
                return stage.toCompletableFuture();
            } catch (UnsupportedOperationException e) {
                CompletableFuture<V> mirror = new CompletableFuture<>();
                var unused = stage.whenComplete((value, failure) -> {
                    if (failure == null) mirror.complete(value);
                    else mirror.completeExceptionally(failure);
                });
                return mirror;
            }
        }

        @SuppressWarnings("unchecked") // what the stage has completed with, or it has lost
        private void ended(@Nullable Object value, @Nullable Throwable failure) {
            this.value = (V) value;
            this.failure = failure;
            call.win(this, false);
        }

        @Override
        public void withdraw() {
            over.complete(null);
        }

        @Override
        @SuppressWarnings("NullAway") // null if that is what the stage has completed with
        public void finish() {
            if (failure != null) call.fail(Stages.unwrap(failure));
            else call.finish(then, value, null);
        }

        @Override
        public void undo() {}
    }
}
