package baton.distributed;

import org.jspecify.annotations.Nullable;

/**
 * A lease was lost before it was released: other members may hold now what it stood for. The message says what was held,
 * for how long, and why it was lost.
 */
public class LeaseLostException extends IllegalStateException {
    private static final long serialVersionUID = 1;

    /**
     * An exception of a lease.
     *
     * @param cause null if there is none
     */
    public LeaseLostException(String message, @Nullable Throwable cause) {
        super(message, cause);
    }
}
