package baton.interop;

/**
 * A {@link Permit} of an {@link AsyncReadWriteLock} that writes, until {@link #downgrade()} turns it into one that
 * reads.
 */
public interface WritePermit extends Permit {
    /**
     * Changes the hold from writing to reading without a gap: no other writer can acquire the lock in between. Other
     * readers are admitted as if the writer had left. Never blocks. From then on {@link #close()} unlocks the reading;
     * a close by another thread during this call takes effect when this call returns.
     *
     * @throws IllegalStateException if this permit does not write: it was closed or downgraded before, or other code
     *     has released the lock, bypassing this permit; the call then changes nothing
     */
    void downgrade();
}
