package baton.interop.internal.parallel;

import baton.parallel.MemoryGate;
import org.jspecify.annotations.Nullable;

/**
 * A call whose results are published.
 *
 * @param name the method, in messages
 * @param limit how many stages run at the same time
 * @param size the results of a signal: they are a list if it is {@code chunked}, else one
 * @param gate holds elements back while memory is short
 */
public record StreamKind(
        String name,
        int limit,
        int size,
        boolean chunked,
        @Nullable MemoryGate gate) {
    public StreamKind {
        if (size < 1) throw new IllegalArgumentException("size = " + size + ", must be at least 1");
        if (limit < 1) throw new IllegalArgumentException("limit = " + limit + ", must be at least 1");
    }

    public static StreamKind mapLimit(int limit) {
        return new StreamKind("mapLimit", limit, 1, false, null);
    }

    public static StreamKind processInChunks(int size, int limit, @Nullable MemoryGate gate) {
        return new StreamKind("processInChunks", limit, size, true, gate);
    }

    /** How many elements may be in flight or have results that are held. */
    long room() {
        return chunked ? (long) size + limit : limit;
    }

    @Override
    public String toString() {
        return name + " (" + (chunked ? "size = " + size + ", " : "") + "limit = " + limit + ")";
    }
}
