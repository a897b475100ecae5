package baton.distributed;

import java.util.Objects;

/**
 * A document of a {@link CoordinationStore}, as it was read.
 *
 * @param version changes with each write, and is never the version of an earlier document of the same key; at least 1
 * @param text JSON, at most {@link #MAX_LENGTH} characters
 */
public record StoredDocument(long version, String text) {
    /** The most characters of a document. */
    public static final int MAX_LENGTH = 64 * 1024;

    /**
     * Checks the arguments.
     *
     * @throws IllegalArgumentException if the version is below 1, or the text too long
     */
    public StoredDocument {
        Objects.requireNonNull(text, "text");
        if (version < 1) throw new IllegalArgumentException("version = " + version + ", must be at least 1");
        if (text.length() > MAX_LENGTH) {
            throw new IllegalArgumentException(
                    "text has " + text.length() + " characters, must have at most " + MAX_LENGTH);
        }
    }
}
