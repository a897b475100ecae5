package baton.interop;

/**
 * A {@link Permit} of an {@link AsyncReadWriteLock} that writes, until {@link #downgrade()} turns it into one that
 * reads.
 */
public interface WritePermit extends Permit {
    /**
     * Turns writing into reading, without a gap: no other writer can slip in. Other readers are let in as if the writer
     * had left. Never blocks. From then on {@link #close()} unlocks the reading; a close that comes from another thread
     * meanwhile takes effect when this call returns.
     *
     * @throws IllegalStateException if this permit does not write: it was closed or downgraded before, or somebody else
     *     has given back what it held; nothing is changed
     */
    void downgrade();
}
