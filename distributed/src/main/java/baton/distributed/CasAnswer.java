package baton.distributed;

import java.util.Optional;

/**
 * The answer to a {@link CoordinationStore#compareAndSet}.
 *
 * @param isStored whether the document was written
 * @param current the document that is there instead; empty if it was written, or if there is none
 */
public record CasAnswer(boolean isStored, Optional<StoredDocument> current) {
    private static final CasAnswer STORED = new CasAnswer(true, Optional.empty());

    /** The document was written. */
    public static CasAnswer stored() {
        return STORED;
    }

    /** Another version is there, or none. */
    public static CasAnswer conflict(Optional<StoredDocument> current) {
        return new CasAnswer(false, current);
    }
}
