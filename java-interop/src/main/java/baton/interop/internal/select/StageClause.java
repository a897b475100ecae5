package baton.interop.internal.select;

import baton.interop.internal.futures.Stages;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * A clause that waits for a stage.
 *
 * @param <V> the type of the value of the stage
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

        /** Completed to end the wait. */
        private final CompletableFuture<@Nullable Void> withdrawn = new CompletableFuture<>();

        private @Nullable V value;
        private @Nullable Throwable failure;

        Listener(SelectFuture<R> call) {
            this.call = call;
        }

        /**
         * Waits with {@code anyOf}, which removes its listener from a future that goes on when another one has
         * completed. So selects that lose, however many, leave nothing at a future that outlives them.
         */
        @Override
        public void start() {
            try {
                var unused = CompletableFuture.anyOf(future(), withdrawn).whenComplete(this::stageEnded);
            } catch (Throwable e) { // A stage of the user's own: the clauses before this one wait already.
                stageEnded(null, e);
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

        @SuppressWarnings("unchecked") // the value of the stage; of `withdrawn` if this has lost, and then unused
        private void stageEnded(@Nullable Object value, @Nullable Throwable failure) {
            this.value = (V) value;
            this.failure = failure;
            call.win(this, false);
        }

        @Override
        public void withdraw() {
            withdrawn.complete(null);
        }

        @Override
        @SuppressWarnings("NullAway") // null is a value that a stage may complete with
        public void finish() {
            if (failure != null) call.finishFailed(Stages.unwrap(failure));
            else call.finish(then, value, null);
        }

        /** Not the description of another select, whose own clauses may wait for further ones. */
        @Override
        public String description() {
            return stage instanceof SelectFuture<?> ? "select" : Stages.describe(stage);
        }

        @Override
        public void undo() {}
    }
}
