package baton.interop;

import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeoutException;

/**
 * A {@link Permit} of an {@link AsyncReadWriteLock} that reads beside the others, until {@link #upgrade()} turns it
 * into one that writes alone.
 *
 * <p>What an upgrade gives is this very permit, now one that writes: there is nothing more to close, and a future of an
 * upgrade that nobody reads loses nothing. {@link #close()} gives back whatever is held at that moment.
 *
 * <p><i>Cancellation.</i> An upgrade that is cancelled, completed from outside, timed out or refused leaves this permit
 * as it was: it reads upgradably. Closing this permit while an upgrade waits cancels that first.
 */
public interface UpgradablePermit extends Permit {
    /**
     * A future that completes when the other readers have left, with this permit, which writes from then on. It goes
     * before all who wait to write.
     *
     * <p>The future fails with {@link IllegalStateException} if this permit does not read upgradably (it was closed or
     * upgraded before, or is being upgraded), or if its owner reads plainly as well, and would wait for itself.
     */
    CompletableFuture<WritePermit> upgrade();

    /**
     * As {@link #upgrade()}; when it had to wait, the future is completed on {@code executor}, and by whoever unlocks
     * if that rejects it.
     */
    CompletableFuture<WritePermit> upgrade(Executor executor);

    /**
     * As {@link #upgrade()}, but fails with {@link TimeoutException} if the others have not left in time; then this
     * permit reads upgradably. With zero or less it succeeds or fails at once. The timeout is rounded up to whole milliseconds.
     */
    CompletableFuture<WritePermit> upgrade(Duration timeout);

    /**
     * Upgrades if nobody else reads; the answer is this permit.
     *
     * @throws IllegalStateException as the future of {@link #upgrade()}
     */
    Optional<WritePermit> tryUpgrade();
}
