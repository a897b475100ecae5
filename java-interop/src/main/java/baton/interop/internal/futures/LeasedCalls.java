package baton.interop.internal.futures;

import baton.TooManyKeysException;
import baton.interop.Permit;
import baton.waiting.keys.KeyEntry;
import baton.waiting.keys.KeyTable;
import java.time.Duration;
import java.util.Objects;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Executor;
import java.util.function.Function;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** The calls by key of a table: each leases the object of its key for as long as it uses it. */
public final class LeasedCalls<K, T> {
    /** A call with the object of a key. */
    public interface Call<T, V extends @Nullable Object, X extends Exception> {
        V with(T object) throws X;
    }

    /** A request at the leased object for a permit whose {@link LeasedPermit} ends the lease. */
    public interface Request<T> {
        CompletableFuture<Permit> of(KeyEntry<T> lease, @Nullable Duration timeout);
    }

    public final KeyTable<K, T> table;

    public LeasedCalls(KeyTable<K, T> table) {
        this.table = table;
    }

    /** A request whose lease ends when its future completes. */
    public <V extends @Nullable Object> CompletableFuture<V> request(
            K key, Function<? super T, CompletableFuture<V>> request) {
        KeyEntry<T> lease;
        try {
            lease = lease(key);
        } catch (TooManyKeysException e) {
            return CompletableFuture.failedFuture(e);
        }
        CompletableFuture<V> future;
        try {
            future = request.apply(lease.value);
        } catch (Throwable e) {
            lease.end();
            throw e;
        }
        var unused = future.whenComplete((value, e) -> lease.end());
        return future;
    }

    /** Runs the action with a permit, and ends the lease with the permit or, without one, with the request. */
    public <V extends @Nullable Object> CompletableFuture<V> holding(
            K key,
            Supplier<? extends CompletionStage<V>> action,
            @Nullable Executor executor,
            @Nullable Duration timeout,
            Request<T> request) {
        Objects.requireNonNull(key, "key");
        Supplier<? extends CompletionStage<V>> inContext = CallerContext.supplier(action);
        KeyEntry<T> lease;
        try {
            lease = lease(key);
        } catch (TooManyKeysException e) {
            return CompletableFuture.failedFuture(e);
        }
        CompletableFuture<Permit> grant;
        try {
            grant = request.of(lease, timeout);
        } catch (Throwable e) {
            lease.end();
            throw e;
        }
        var unused = grant.whenComplete((permit, e) -> {
            if (permit == null) lease.end();
        });
        return WithPermitFuture.run(inContext, grant, executor);
    }

    /** A call of a thread. */
    public <V extends @Nullable Object, X extends Exception> V call(K key, Call<? super T, V, X> call) throws X {
        KeyEntry<T> lease = lease(key);
        try {
            return call.with(lease.value);
        } finally {
            lease.end();
        }
    }

    private KeyEntry<T> lease(K key) {
        return table.lease(Objects.requireNonNull(key, "key"));
    }

    /** The action as one that ends when it returns. */
    public static <V extends @Nullable Object> Supplier<CompletionStage<V>> ofCallable(
            Callable<? extends V> action, Executor executor) {
        Objects.requireNonNull(executor, "executor");
        return Stages.<V>ofCallable(action);
    }
}
