package baton.distributed;

import org.jspecify.annotations.Nullable;

/** A store has not answered: what was asked of it may have happened, or may still happen. */
public class OutcomeUnknownException extends IllegalStateException {
    private static final long serialVersionUID = 1;

    /**
     * An exception of a store.
     *
     * @param message names the store
     * @param cause null if there is none
     */
    public OutcomeUnknownException(String message, @Nullable Throwable cause) {
        super(message, cause);
    }
}
