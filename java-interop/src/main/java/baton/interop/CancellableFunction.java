package baton.interop;

import org.jspecify.annotations.Nullable;

/**
 * Work that can be told that it is no longer wanted.
 *
 * @param <T> what it answers
 */
@FunctionalInterface
public interface CancellableFunction<T extends @Nullable Object> {
    /** Does the work. What it throws is what its future fails with. */
    T call(CancellationToken token) throws Exception;
}
