package baton.interop.internal.cancel;

import baton.interop.CancellableFuture;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Executor;
import java.util.function.BiConsumer;
import java.util.function.BiFunction;
import java.util.function.Consumer;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * The ways to derive a stage from one: each is what CompletableFuture makes it, but cancellable, and counted among
 * those who want this one.
 */
public abstract class UnaryStages<T extends @Nullable Object> extends CompletableFuture<T> {
    /** Makes this a source of the stage, which was just derived from it. */
    abstract <U extends @Nullable Object> CancellableFuture<U> derived(CompletableFuture<U> stage);

    /** A future without work, which completes only from outside. */
    @Override
    public abstract <U extends @Nullable Object> CancellableFuture<U> newIncompleteFuture();

    /** Runs the action when this is done; it does not count as a dependent. */
    protected final void whenDone(Runnable action) {
        var unused = super.whenComplete((value, e) -> action.run());
    }

    @Override
    public final <U extends @Nullable Object> CancellableFuture<U> thenApply(
            Function<? super T, ? extends U> function) {
        return derived(super.thenApply(function));
    }

    @Override
    public final <U extends @Nullable Object> CancellableFuture<U> thenApplyAsync(
            Function<? super T, ? extends U> function) {
        return derived(super.thenApplyAsync(function));
    }

    @Override
    public final <U extends @Nullable Object> CancellableFuture<U> thenApplyAsync(
            Function<? super T, ? extends U> function, Executor executor) {
        return derived(super.thenApplyAsync(function, executor));
    }

    @Override
    public final CancellableFuture<@Nullable Void> thenAccept(Consumer<? super T> action) {
        return derived(super.thenAccept(action));
    }

    @Override
    public final CancellableFuture<@Nullable Void> thenAcceptAsync(Consumer<? super T> action) {
        return derived(super.thenAcceptAsync(action));
    }

    @Override
    public final CancellableFuture<@Nullable Void> thenAcceptAsync(Consumer<? super T> action, Executor executor) {
        return derived(super.thenAcceptAsync(action, executor));
    }

    @Override
    public final CancellableFuture<@Nullable Void> thenRun(Runnable action) {
        return derived(super.thenRun(action));
    }

    @Override
    public final CancellableFuture<@Nullable Void> thenRunAsync(Runnable action) {
        return derived(super.thenRunAsync(action));
    }

    @Override
    public final CancellableFuture<@Nullable Void> thenRunAsync(Runnable action, Executor executor) {
        return derived(super.thenRunAsync(action, executor));
    }

    @Override
    public final <U extends @Nullable Object> CancellableFuture<U> handle(
            BiFunction<? super T, Throwable, ? extends U> function) {
        return derived(super.handle(function));
    }

    @Override
    public final <U extends @Nullable Object> CancellableFuture<U> handleAsync(
            BiFunction<? super T, Throwable, ? extends U> function) {
        return derived(super.handleAsync(function));
    }

    @Override
    public final <U extends @Nullable Object> CancellableFuture<U> handleAsync(
            BiFunction<? super T, Throwable, ? extends U> function, Executor executor) {
        return derived(super.handleAsync(function, executor));
    }

    @Override
    public final CancellableFuture<T> whenComplete(BiConsumer<? super T, ? super Throwable> action) {
        return derived(super.whenComplete(action));
    }

    @Override
    public final CancellableFuture<T> whenCompleteAsync(BiConsumer<? super T, ? super Throwable> action) {
        return derived(super.whenCompleteAsync(action));
    }

    @Override
    public final CancellableFuture<T> whenCompleteAsync(
            BiConsumer<? super T, ? super Throwable> action, Executor executor) {
        return derived(super.whenCompleteAsync(action, executor));
    }

    @Override
    public final CancellableFuture<T> exceptionally(Function<Throwable, ? extends T> function) {
        return derived(super.exceptionally(function));
    }

    @Override
    public final CancellableFuture<T> exceptionallyAsync(Function<Throwable, ? extends T> function) {
        return derived(super.exceptionallyAsync(function));
    }

    @Override
    public final CancellableFuture<T> exceptionallyAsync(Function<Throwable, ? extends T> function, Executor executor) {
        return derived(super.exceptionallyAsync(function, executor));
    }

    @Override
    public final <U extends @Nullable Object> CancellableFuture<U> thenCompose(
            Function<? super T, ? extends CompletionStage<U>> function) {
        ComposeLink<T, U> composed = new ComposeLink<>(function);
        return composed.by(derived(super.thenCompose(composed)));
    }

    @Override
    public final <U extends @Nullable Object> CancellableFuture<U> thenComposeAsync(
            Function<? super T, ? extends CompletionStage<U>> function) {
        ComposeLink<T, U> composed = new ComposeLink<>(function);
        return composed.by(derived(super.thenComposeAsync(composed)));
    }

    @Override
    public final <U extends @Nullable Object> CancellableFuture<U> thenComposeAsync(
            Function<? super T, ? extends CompletionStage<U>> function, Executor executor) {
        ComposeLink<T, U> composed = new ComposeLink<>(function);
        return composed.by(derived(super.thenComposeAsync(composed, executor)));
    }

    @Override
    public final CancellableFuture<T> exceptionallyCompose(Function<Throwable, ? extends CompletionStage<T>> function) {
        ComposeLink<Throwable, T> composed = new ComposeLink<>(function);
        return composed.by(derived(super.exceptionallyCompose(composed)));
    }

    @Override
    public final CancellableFuture<T> exceptionallyComposeAsync(
            Function<Throwable, ? extends CompletionStage<T>> function) {
        ComposeLink<Throwable, T> composed = new ComposeLink<>(function);
        return composed.by(derived(super.exceptionallyComposeAsync(composed)));
    }

    @Override
    public final CancellableFuture<T> exceptionallyComposeAsync(
            Function<Throwable, ? extends CompletionStage<T>> function, Executor executor) {
        ComposeLink<Throwable, T> composed = new ComposeLink<>(function);
        return composed.by(derived(super.exceptionallyComposeAsync(composed, executor)));
    }
}
