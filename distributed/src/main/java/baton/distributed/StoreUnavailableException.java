package baton.distributed;

import baton.Refusal;
import org.jspecify.annotations.Nullable;

/** A store cannot be reached. The call has certainly changed nothing there, and its caller holds nothing. */
public class StoreUnavailableException extends IllegalStateException implements Refusal {
    private static final long serialVersionUID = 1;

    /**
     * An exception of a store.
     *
     * @param message names the store
     * @param cause null if there is none
     */
    public StoreUnavailableException(String message, @Nullable Throwable cause) {
        super(message, cause);
    }
}
