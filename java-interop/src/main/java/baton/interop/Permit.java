package baton.interop;

/**
 * The result of an acquire or a lock, held until it is closed. Made for try-with-resources.
 *
 * <pre>{@code
 * try (Permit permit = semaphore.blocking().acquire()) {
 *     upload();
 * }
 * }</pre>
 *
 * <p><i>Thread-safety.</i> Any thread may close a permit. Closing is idempotent: the second and every further close do
 * nothing, so code can close a permit early, and again in a {@code finally}.
 *
 * <p><i>Memory.</i> Actions before {@link #close()} happen before the actions that follow the acquire which gets the
 * permit next; {@link baton.sync.ReadWriteLock} specifies what that means for readers.
 */
public interface Permit extends AutoCloseable {
    /**
     * Releases what is held, first of all to the waiters, in the order of the primitive. Never blocks.
     *
     * @throws IllegalStateException if other code has released it already, bypassing this permit
     */
    @Override
    void close();

    /** Whether this permit has not been closed yet. */
    boolean isHeld();
}
