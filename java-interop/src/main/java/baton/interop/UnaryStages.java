package baton.interop;

import baton.interop.internal.cancel.CancellableWork;
import baton.interop.internal.cancel.CancellationNode;
import baton.interop.internal.cancel.ComposeLink;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Executor;
import java.util.function.BiConsumer;
import java.util.function.BiFunction;
import java.util.function.Consumer;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * The methods that derive a stage from this one: each returns what CompletableFuture's own does, but cancellable, and
 * counts it as a dependent of this.
 *
 * <p>They are not in a package of the internals: Kotlin's compiler refuses calls to methods of a package that the
 * module does not export.
 */
abstract class UnaryStages<T extends @Nullable Object> extends CancellationNode<T> {
    UnaryStages(@Nullable CancellableWork work) {
        super(work);
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
        return composed.linkTo(derived(super.thenCompose(composed)));
    }

    @Override
    public final <U extends @Nullable Object> CancellableFuture<U> thenComposeAsync(
            Function<? super T, ? extends CompletionStage<U>> function) {
        ComposeLink<T, U> composed = new ComposeLink<>(function);
        return composed.linkTo(derived(super.thenComposeAsync(composed)));
    }

    @Override
    public final <U extends @Nullable Object> CancellableFuture<U> thenComposeAsync(
            Function<? super T, ? extends CompletionStage<U>> function, Executor executor) {
        ComposeLink<T, U> composed = new ComposeLink<>(function);
        return composed.linkTo(derived(super.thenComposeAsync(composed, executor)));
    }

    @Override
    public final CancellableFuture<T> exceptionallyCompose(Function<Throwable, ? extends CompletionStage<T>> function) {
        ComposeLink<Throwable, T> composed = new ComposeLink<>(function);
        return composed.linkTo(derived(super.exceptionallyCompose(composed)));
    }

    @Override
    public final CancellableFuture<T> exceptionallyComposeAsync(
            Function<Throwable, ? extends CompletionStage<T>> function) {
        ComposeLink<Throwable, T> composed = new ComposeLink<>(function);
        return composed.linkTo(derived(super.exceptionallyComposeAsync(composed)));
    }

    @Override
    public final CancellableFuture<T> exceptionallyComposeAsync(
            Function<Throwable, ? extends CompletionStage<T>> function, Executor executor) {
        ComposeLink<Throwable, T> composed = new ComposeLink<>(function);
        return composed.linkTo(derived(super.exceptionallyComposeAsync(composed, executor)));
    }
}
