package baton.interop;

import baton.PermitTimeoutException;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;

/**
 * A {@link Permit} of an {@link AsyncReadWriteLock} that reads together with other readers, until {@link #upgrade()}
 * turns it into a permit that writes exclusively.
 *
 * <pre>{@code
 * try (UpgradablePermit permit = lock.lockUpgradable().join()) {
 *     WritePermit writes = permit.upgrade().join();
 *     cache.clear();
 *     writes.downgrade();
 * }
 * }</pre>
 *
 * <p>An upgrade yields this same permit, which then writes: there is no other permit to close, and a future of an
 * upgrade that is never read loses nothing. {@link #close()} releases the mode that is held at that moment.
 *
 * <p><i>Cancellation.</i> An upgrade that is cancelled, completed from outside, timed out or refused leaves this permit
 * as it was: it reads upgradably. Closing this permit while an upgrade waits first cancels the upgrade.
 */
public interface UpgradablePermit extends Permit {
    /**
     * A future that completes with this permit when the other readers have left; from then on this permit writes. The
     * upgrade is granted before all queued writers.
     *
     * <p>The future fails with {@link IllegalStateException} if this permit does not read upgradably (it was closed or
     * upgraded before, or is being upgraded), or if its owner also holds a plain read lock: the upgrade would wait for
     * its own owner.
     */
    CompletableFuture<WritePermit> upgrade();

    /**
     * As {@link #upgrade()}, but a future that had to wait is completed on {@code executor}; by the unlocking thread if
     * the executor rejects that.
     */
    CompletableFuture<WritePermit> upgrade(Executor executor);

    /**
     * As {@link #upgrade()}, but fails with {@link PermitTimeoutException} if the other readers have not left in time; then
     * this permit still reads upgradably. With zero or less the upgrade succeeds or fails at once. The timeout is
     * rounded up to whole milliseconds.
     */
    CompletableFuture<WritePermit> upgrade(Duration timeout);

    /**
     * Upgrades if there is no other reader, and returns this permit; otherwise returns an empty Optional.
     *
     * @throws IllegalStateException as the future of {@link #upgrade()}
     */
    Optional<WritePermit> tryUpgrade();
}
