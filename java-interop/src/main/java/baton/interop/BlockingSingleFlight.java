package baton.interop;

import baton.bridge.FlightBridge;
import baton.bridge.FlightCaller;
import baton.interop.internal.futures.SharedLoad;
import baton.interop.internal.parallel.BlockingThreads;
import baton.tasks.SingleFlight;
import baton.waiting.ThreadWaiter;
import java.util.Objects;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;

/**
 * {@link SingleFlight} for threads that may block: virtual threads above all. Made by {@link AsyncSingleFlight#blocking()}.
 *
 * <pre>{@code
 * User user = flight.blocking().run(id, () -> repository.load(id));
 * }</pre>
 *
 * <p>It has no state of its own. The run belongs to no caller: a virtual thread of its own calls the load, before JDK 21 one
 * of {@code Dispatchers.IO}, in the context that a {@link ContextPropagator} captures at the first caller.
 *
 * <p><i>Interrupts.</i> An interrupt ends the wait of that thread alone. When the last caller has left, the thread of the
 * load is interrupted.
 */
public final class BlockingSingleFlight<K, V extends @Nullable Object> {
    private final SingleFlight<K, V> flight;

    BlockingSingleFlight(SingleFlight<K, V> flight) {
        this.flight = flight;
    }

    /**
     * The result of the run of {@code key} that goes on, or of a new one that calls {@code load}.
     *
     * @throws IllegalStateException if this is called by the load of the same key
     * @throws InterruptedException if the thread was interrupted
     * @throws Exception as {@code load}
     */
    @SuppressWarnings("unchecked") // the grants of a run are its value
    public V run(K key, Callable<V> load) throws Exception {
        Objects.requireNonNull(key, "key");
        SharedLoad<V> shared = SharedLoad.of(load, BlockingThreads.defaultExecutor());
        ThreadWaiter.throwIfInterrupted();
        FlightCaller<V> caller = FlightBridge.enter(flight, key);
        try {
            SharedLoad.begin(caller, shared);
            ThreadWaiter waiter = new ThreadWaiter(caller.getCore(), 1, null, flight);
            waiter.await();
            return (V) waiter.grant();
        } finally {
            caller.leave();
        }
    }

    @Override
    public String toString() {
        return "Blocking" + flight;
    }
}
