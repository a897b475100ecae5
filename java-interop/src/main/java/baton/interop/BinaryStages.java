package baton.interop;

import baton.interop.internal.cancel.CancellableWork;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Executor;
import java.util.function.BiConsumer;
import java.util.function.BiFunction;
import java.util.function.Consumer;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** The methods that derive a stage from this and another one, which are then both sources of it. */
abstract class BinaryStages<T extends @Nullable Object> extends UnaryStages<T> {
    BinaryStages(@Nullable CancellableWork work) {
        super(work);
    }

    @Override
    public final <U extends @Nullable Object, V extends @Nullable Object> CancellableFuture<V> thenCombine(
            CompletionStage<? extends U> other, BiFunction<? super T, ? super U, ? extends V> function) {
        return derived(other, super.thenCombine(other, function));
    }

    @Override
    public final <U extends @Nullable Object, V extends @Nullable Object> CancellableFuture<V> thenCombineAsync(
            CompletionStage<? extends U> other, BiFunction<? super T, ? super U, ? extends V> function) {
        return derived(other, super.thenCombineAsync(other, function));
    }

    @Override
    public final <U extends @Nullable Object, V extends @Nullable Object> CancellableFuture<V> thenCombineAsync(
            CompletionStage<? extends U> other,
            BiFunction<? super T, ? super U, ? extends V> function,
            Executor executor) {
        return derived(other, super.thenCombineAsync(other, function, executor));
    }

    @Override
    public final <U extends @Nullable Object> CancellableFuture<@Nullable Void> thenAcceptBoth(
            CompletionStage<? extends U> other, BiConsumer<? super T, ? super U> action) {
        return derived(other, super.thenAcceptBoth(other, action));
    }

    @Override
    public final <U extends @Nullable Object> CancellableFuture<@Nullable Void> thenAcceptBothAsync(
            CompletionStage<? extends U> other, BiConsumer<? super T, ? super U> action) {
        return derived(other, super.thenAcceptBothAsync(other, action));
    }

    @Override
    public final <U extends @Nullable Object> CancellableFuture<@Nullable Void> thenAcceptBothAsync(
            CompletionStage<? extends U> other, BiConsumer<? super T, ? super U> action, Executor executor) {
        return derived(other, super.thenAcceptBothAsync(other, action, executor));
    }

    @Override
    public final CancellableFuture<@Nullable Void> runAfterBoth(CompletionStage<?> other, Runnable action) {
        return derived(other, super.runAfterBoth(other, action));
    }

    @Override
    public final CancellableFuture<@Nullable Void> runAfterBothAsync(CompletionStage<?> other, Runnable action) {
        return derived(other, super.runAfterBothAsync(other, action));
    }

    @Override
    public final CancellableFuture<@Nullable Void> runAfterBothAsync(
            CompletionStage<?> other, Runnable action, Executor executor) {
        return derived(other, super.runAfterBothAsync(other, action, executor));
    }

    @Override
    public final <U extends @Nullable Object> CancellableFuture<U> applyToEither(
            CompletionStage<? extends T> other, Function<? super T, U> function) {
        return derivedFromEither(other, super.applyToEither(other, function));
    }

    @Override
    public final <U extends @Nullable Object> CancellableFuture<U> applyToEitherAsync(
            CompletionStage<? extends T> other, Function<? super T, U> function) {
        return derivedFromEither(other, super.applyToEitherAsync(other, function));
    }

    @Override
    public final <U extends @Nullable Object> CancellableFuture<U> applyToEitherAsync(
            CompletionStage<? extends T> other, Function<? super T, U> function, Executor executor) {
        return derivedFromEither(other, super.applyToEitherAsync(other, function, executor));
    }

    @Override
    public final CancellableFuture<@Nullable Void> acceptEither(
            CompletionStage<? extends T> other, Consumer<? super T> action) {
        return derivedFromEither(other, super.acceptEither(other, action));
    }

    @Override
    public final CancellableFuture<@Nullable Void> acceptEitherAsync(
            CompletionStage<? extends T> other, Consumer<? super T> action) {
        return derivedFromEither(other, super.acceptEitherAsync(other, action));
    }

    @Override
    public final CancellableFuture<@Nullable Void> acceptEitherAsync(
            CompletionStage<? extends T> other, Consumer<? super T> action, Executor executor) {
        return derivedFromEither(other, super.acceptEitherAsync(other, action, executor));
    }

    @Override
    public final CancellableFuture<@Nullable Void> runAfterEither(CompletionStage<?> other, Runnable action) {
        return derivedFromEither(other, super.runAfterEither(other, action));
    }

    @Override
    public final CancellableFuture<@Nullable Void> runAfterEitherAsync(CompletionStage<?> other, Runnable action) {
        return derivedFromEither(other, super.runAfterEitherAsync(other, action));
    }

    @Override
    public final CancellableFuture<@Nullable Void> runAfterEitherAsync(
            CompletionStage<?> other, Runnable action, Executor executor) {
        return derivedFromEither(other, super.runAfterEitherAsync(other, action, executor));
    }
}
