package baton.interop;

/**
 * What an acquire or a lock has given: it is held until it is closed. Made for try-with-resources.
 *
 * <p><i>Thread-safety.</i> May be closed from any thread. Closing is idempotent: the second and every further close do
 * nothing, so that a permit can be closed early and again by a {@code finally}.
 *
 * <p><i>Memory.</i> What happens before {@link #close()} happens before whatever follows the acquire that gets the
 * permit next; what that means for readers, {@link baton.sync.ReadWriteLock} says.
 */
public interface Permit extends AutoCloseable {
    /**
     * Gives back what is held, first of all to those who wait, in the order of the primitive. Never blocks.
     *
     * @throws IllegalStateException if somebody else has given it back already, past this permit
     */
    @Override
    void close();

    /** Whether it has not been closed yet. */
    boolean isHeld();
}
