package baton.interop;

/** A {@link CancellableFunction} that answers nothing. */
@FunctionalInterface
public interface CancellableAction {
    /** Does the work. What it throws is what its future fails with. */
    void run(CancellationToken token) throws Exception;
}
