package baton.interop;

import org.jspecify.annotations.Nullable;

/**
 * An action that may block, and be interrupted.
 *
 * @param <T> the type of the argument
 */
@FunctionalInterface
public interface BlockingAction<T extends @Nullable Object> {
    /** Does the work for the argument. */
    void accept(T argument) throws Exception;
}
