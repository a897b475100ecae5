package baton.interop.internal.futures;

import baton.channels.Channel;
import baton.waiting.threads.Once;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Executor;
import java.util.concurrent.Flow;
import java.util.function.BiConsumer;
import java.util.function.Consumer;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** The future of a {@code forEach}. It does not keep the action alive, because it may be kept for its outcome. */
public final class ForEachFuture<T extends @Nullable Object> extends RevocableFuture<@Nullable Void> {
    private Flow.@Nullable Subscription subscription;
    private volatile @Nullable CompletionStage<?> running;

    private final Channel<T> channel;

    private ForEachFuture(Channel<T> channel) {
        this.channel = channel;
    }

    /**
     * Gives the action one element after the other.
     *
     * @param executor runs the action; null for the thread that starts, sends or closes
     */
    public static <T extends @Nullable Object> CompletableFuture<@Nullable Void> of(
            Channel<T> channel, Consumer<? super T> action, @Nullable Executor executor) {
        Objects.requireNonNull(action, "action");
        return start(channel, executor, element -> {
            action.accept(element);
            return null;
        });
    }

    /**
     * As {@link #of}, but gives the action its next element once the stage for the last one has completed.
     *
     * @param executor runs the action; null for the thread that starts, sends or closes, or completes the stage
     */
    public static <T extends @Nullable Object> CompletableFuture<@Nullable Void> ofStages(
            Channel<T> channel, Function<? super T, ? extends CompletionStage<?>> action, @Nullable Executor executor) {
        Objects.requireNonNull(action, "action");
        return start(
                channel,
                executor,
                element ->
                        Objects.requireNonNull(action.apply(element), "the action returned null instead of a stage"));
    }

    private static <T extends @Nullable Object> CompletableFuture<@Nullable Void> start(
            Channel<T> channel,
            @Nullable Executor executor,
            Function<? super T, ? extends @Nullable CompletionStage<?>> action) {
        ForEachFuture<T> future = new ForEachFuture<>(channel);
        Executor context = CallerContext.executor(null);
        var receiver = future.new Receiver(CallerContext.function(context, action), context);
        ChannelSubscription.subscribe(channel, receiver, executor, false);
        return future;
    }

    private Flow.Subscription subscription() {
        return Objects.requireNonNull(subscription);
    }

    @Override
    protected void withdraw() {
        subscription().cancel();
    }

    @Override
    protected String call() {
        return "forEach of a channel";
    }

    @Override
    protected String description() {
        return "forEach of " + channel;
    }

    @Override
    protected void cancelRunning() {
        CompletionStage<?> stage = running;
        if (stage != null) Stages.cancel(stage);
    }

    /** Requests the next element once the action for the last one has ended. */
    private final class Receiver implements Flow.Subscriber<T> {
        /** Returns a stage, or null if the action has ended when it returns. */
        private final Function<? super T, ? extends @Nullable CompletionStage<?>> action;

        /** The caller's, in which the dependents run; or null. */
        private final @Nullable Executor context;

        Receiver(Function<? super T, ? extends @Nullable CompletionStage<?>> action, @Nullable Executor context) {
            this.action = action;
            this.context = context;
        }

        @Override
        public void onSubscribe(Flow.Subscription subscription) {
            ForEachFuture.this.subscription = subscription;
            subscription.request(1);
        }

        @Override
        public void onNext(T element) {
            try {
                CompletionStage<?> stage = action.apply(element);
                if (stage == null) {
                    subscription().request(1);
                    return;
                }
                running = stage;
                await(stage);
                if (isDone()) cancelRunning();
            } catch (Throwable e) {
                cancelAndFail(e);
            }
        }

        /** Its first end counts: a stage of a broken class may end twice, or end and then throw. */
        private void await(CompletionStage<?> stage) {
            var first = new Once();
            BiConsumer<@Nullable Object, @Nullable Throwable> end = (value, e) -> {
                if (!first.take()) return;
                running = null;
                if (e == null) subscription().request(1);
                else cancelAndFail(Stages.unwrap(e));
            };
            try {
                var unused = stage.whenComplete(end);
            } catch (Throwable e) {
                end.accept(null, e);
            }
        }

        private void cancelAndFail(Throwable why) {
            subscription().cancel();
            onError(why);
        }

        @Override
        public void onError(Throwable why) {
            CallerContext.runFor(context, () -> fail(why));
        }

        @Override
        public void onComplete() {
            CallerContext.runFor(context, () -> succeed(null));
        }
    }
}
