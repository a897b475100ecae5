package baton.interop;

import baton.bridge.FlightBridge;
import baton.bridge.FlightCaller;
import baton.interop.internal.futures.SharedLoad;
import baton.interop.internal.futures.WaiterFuture;
import baton.tasks.SingleFlight;
import java.util.Objects;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Executor;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * {@link SingleFlight} for Java: callers of the same key share one run.
 *
 * <pre>{@code
 * AsyncSingleFlight<UserId, User> flight = AsyncSingleFlight.create();
 * CompletableFuture<User> user = flight.run(id, () -> client.fetchUser(id));
 * }</pre>
 *
 * <p>It has no state of its own: Java futures, Kotlin coroutines and threads share runs. It is no cache: the result goes to
 * the callers that came while the run went on.
 *
 * <p><i>Run.</i> The load of the first caller is called on its thread, or by the executor that it gives, in the context that
 * a {@link ContextPropagator} captures there. The run ends with the load's stage. All callers get its result, or its
 * failure unwrapped; a {@code CancellationException} of the load is the cause of an {@link IllegalStateException}.
 *
 * <p><i>Cancellation.</i> Cancelling a future, completing it from outside, or letting {@code orTimeout} expire ends that
 * caller's part alone. When the last caller has left, the stage of the load is cancelled; a load that an executor runs is
 * interrupted. Its key is free from then on.
 *
 * <p><i>Callbacks.</i> As {@link AsyncSemaphore}: the thread that ends the run completes the futures.
 *
 * <p><i>Misuse.</i> A run of a key by the load of the same key, on its thread, throws {@link IllegalStateException}. A stage
 * that depends on such a future never completes. Keys must not change their {@code equals} and {@code hashCode}.
 */
public final class AsyncSingleFlight<K, V extends @Nullable Object> {
    private final SingleFlight<K, V> flight;

    private AsyncSingleFlight(SingleFlight<K, V> flight) {
        this.flight = flight;
    }

    /** The Java API of the given object; the two share all state. */
    public static <K, V extends @Nullable Object> AsyncSingleFlight<K, V> of(SingleFlight<K, V> flight) {
        return new AsyncSingleFlight<>(Objects.requireNonNull(flight, "flight"));
    }

    /** A new one. */
    public static <K, V extends @Nullable Object> AsyncSingleFlight<K, V> create() {
        return create(null);
    }

    /** As {@link #create()}, with a name for messages and {@code toString}; null for none. */
    public static <K, V extends @Nullable Object> AsyncSingleFlight<K, V> create(@Nullable String name) {
        return of(new SingleFlight<>(name));
    }

    /** The Kotlin object behind this. */
    public SingleFlight<K, V> kotlin() {
        return flight;
    }

    /** A view of the same object for threads that may block. */
    public BlockingSingleFlight<K, V> blocking() {
        return new BlockingSingleFlight<>(flight);
    }

    /**
     * The result of the run of {@code key} that goes on, or of a new one that calls {@code load}.
     *
     * @throws IllegalStateException if this is called by the load of the same key
     */
    public CompletableFuture<V> run(K key, Supplier<? extends CompletionStage<V>> load) {
        return run(key, SharedLoad.of(load));
    }

    /** As {@link #run(Object, Supplier)}, for a load that {@code executor} runs and that ends when it returns. */
    public CompletableFuture<V> run(K key, Callable<V> load, Executor executor) {
        return run(key, SharedLoad.of(load, executor));
    }

    private CompletableFuture<V> run(K key, SharedLoad<V> load) {
        FlightCaller<V> caller = FlightBridge.enter(flight, Objects.requireNonNull(key, "key"));
        CompletableFuture<V> future;
        try {
            SharedLoad.begin(caller, load);
            future = WaiterFuture.enqueue(caller.getCore(), 1, null, null, null, null, null);
        } catch (Throwable e) { // memory or stack is exhausted
            caller.leave();
            throw e;
        }
        var unused = future.whenComplete((value, e) -> caller.leave());
        return future;
    }

    /**
     * From now on callers of {@code key} begin a new run, also if one goes on. That run goes on for the callers that wait
     * for it.
     */
    public void forget(K key) {
        flight.forget(Objects.requireNonNull(key, "key"));
    }

    /** How many keys have a run that has not ended. */
    public int size() {
        return flight.getSize();
    }

    @Override
    public String toString() {
        return "Async" + flight;
    }
}
