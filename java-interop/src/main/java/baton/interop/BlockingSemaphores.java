package baton.interop;

import baton.PermitTimeoutException;
import baton.TooManyKeysException;
import baton.bridge.KeyBridge;
import baton.interop.internal.futures.LeasedCalls;
import baton.sync.Semaphore;
import baton.sync.Semaphores;
import java.time.Duration;
import java.util.Objects;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;

/**
 * {@link Semaphores} for threads that may block: virtual threads above all. Made by {@link AsyncSemaphores#blocking()}.
 *
 * <pre>{@code
 * String body = perHost.blocking().call(host, () -> client.send(request, ofString()).body());
 * }</pre>
 *
 * <p>It has no state of its own. Waiting and interrupts are as in {@link BlockingSemaphore}. A call of a key for which there is no place throws
 * {@link TooManyKeysException}; its action is not run.
 */
public final class BlockingSemaphores<K> {
    private final Semaphores<K> semaphores;
    private final LeasedCalls<K, Semaphore> calls;

    BlockingSemaphores(Semaphores<K> semaphores) {
        this.semaphores = semaphores;
        this.calls = new LeasedCalls<>(KeyBridge.of(semaphores));
    }

    /** As {@link #call(Object, int, Callable)}, for one permit. */
    public <T extends @Nullable Object> T call(K key, Callable<T> action) throws Exception {
        return call(key, 1, action);
    }

    /**
     * Runs {@code action} while holding so many permits of {@code key}, and returns its value.
     *
     * @throws IllegalArgumentException if {@code permits} is below 1 or above those of each key
     * @throws Exception as {@code action}; the permits are back then
     */
    public <T extends @Nullable Object> T call(K key, int permits, Callable<T> action) throws Exception {
        Objects.requireNonNull(action, "action");
        return calls.call(key, semaphore -> new BlockingSemaphore(semaphore).call(permits, action));
    }

    /**
     * As {@link #call(Object, Callable)}, but waits {@code timeout} at most for the permit.
     *
     * @throws PermitTimeoutException if the permit was not granted in time; {@code action} has not run
     */
    public <T extends @Nullable Object> T call(K key, Duration timeout, Callable<T> action) throws Exception {
        Objects.requireNonNull(timeout, "timeout");
        Objects.requireNonNull(action, "action");
        return calls.call(key, semaphore -> new BlockingSemaphore(semaphore).call(timeout, action));
    }

    @Override
    public String toString() {
        return "Blocking" + semaphores;
    }
}
