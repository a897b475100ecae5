package baton.interop;

import org.jspecify.annotations.Nullable;

/**
 * A function that may block, and be interrupted.
 *
 * @param <T> the type of the argument
 * @param <R> the type of the result
 */
@FunctionalInterface
public interface BlockingFunction<T extends @Nullable Object, R extends @Nullable Object> {
    /** The result for the argument. */
    R apply(T argument) throws Exception;
}
