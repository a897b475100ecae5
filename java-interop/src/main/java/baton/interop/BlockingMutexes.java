package baton.interop;

import baton.PermitTimeoutException;
import baton.TooManyKeysException;
import baton.bridge.KeyBridge;
import baton.interop.internal.blocking.MutexLock;
import baton.interop.internal.futures.LeasedCalls;
import baton.sync.Mutex;
import baton.sync.Mutexes;
import baton.waiting.keys.KeyEntry;
import java.time.Duration;
import java.util.Collection;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;

/**
 * {@link Mutexes} for threads that may block: virtual threads above all. Made by {@link AsyncMutexes#blocking()}.
 *
 * <pre>{@code
 * locks.blocking().call(id, () -> deposit(id, amount));
 * }</pre>
 *
 * <p>It has no state of its own. Waiting, owners and interrupts are as in {@link BlockingMutex}. A call of a key for which there is no place throws
 * {@link TooManyKeysException}; its action is not run.
 */
public final class BlockingMutexes<K> {
    private final Mutexes<K> mutexes;
    private final LeasedCalls<K, Mutex> calls;

    BlockingMutexes(Mutexes<K> mutexes) {
        this.mutexes = mutexes;
        this.calls = new LeasedCalls<>(KeyBridge.of(mutexes));
    }

    /**
     * Runs {@code action} while holding the mutex of {@code key}, and returns its value.
     *
     * @throws IllegalStateException if the current thread holds it already
     * @throws Exception as {@code action}; the mutex is unlocked then
     */
    public <T extends @Nullable Object> T call(K key, Callable<T> action) throws Exception {
        Objects.requireNonNull(action, "action");
        return calls.call(key, mutex -> new MutexLock(mutex).call(action));
    }

    /**
     * As {@link #call(Object, Callable)}, but waits {@code timeout} at most for the mutex.
     *
     * @throws PermitTimeoutException if the mutex was not granted in time; {@code action} has not run
     */
    public <T extends @Nullable Object> T call(K key, Duration timeout, Callable<T> action) throws Exception {
        Objects.requireNonNull(timeout, "timeout");
        Objects.requireNonNull(action, "action");
        return calls.call(key, mutex -> new MutexLock(mutex).call(timeout, action));
    }

    /**
     * Runs {@code action} while holding the mutexes of all {@code keys}, see {@link AsyncMutexes#withLocks}.
     *
     * @throws IllegalStateException if the current thread holds one of them already
     * @throws Exception as {@code action}; the mutexes are unlocked then
     */
    public <T extends @Nullable Object> T callWithAll(Collection<? extends K> keys, Callable<T> action)
            throws Exception {
        Objects.requireNonNull(action, "action");
        List<KeyEntry<Mutex>> leases = calls.table.leaseAll(List.copyOf(Objects.requireNonNull(keys, "keys")));
        int locked = 0;
        try {
            for (KeyEntry<Mutex> lease : leases) {
                new MutexLock(lease.value).lockInterruptibly();
                locked++;
            }
            return action.call();
        } finally {
            for (int i = leases.size() - 1; i >= 0; i--) {
                if (i < locked) new MutexLock(leases.get(i).value).unlock();
                leases.get(i).end();
            }
        }
    }

    @Override
    public String toString() {
        return "Blocking" + mutexes;
    }
}
