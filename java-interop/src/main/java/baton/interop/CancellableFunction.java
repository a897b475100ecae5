package baton.interop;

import org.jspecify.annotations.Nullable;

/**
 * Work that can observe, by its {@link CancellationToken}, that its result is no longer wanted.
 *
 * @param <T> the type of the result
 */
@FunctionalInterface
public interface CancellableFunction<T extends @Nullable Object> {
    /** Does the work. The future fails with the exception that this method throws. */
    T call(CancellationToken token) throws Exception;
}
