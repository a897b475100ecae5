package baton.interop;

/** A {@link CancellableFunction} without a value. */
@FunctionalInterface
public interface CancellableAction {
    /** Does the work. The future fails with the exception that this method throws. */
    void run(CancellationToken token) throws Exception;
}
