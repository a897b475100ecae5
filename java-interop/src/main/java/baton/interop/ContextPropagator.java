package baton.interop;

import baton.interop.internal.futures.ScopedValues;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;

/**
 * Carries what belongs to a caller, such as a logging context or a trace, to the code that runs for the caller later on
 * another thread. {@link ContextPropagation#enable} turns it on. For SLF4J's MDC:
 *
 * <pre>{@code
 * class MdcPropagator implements ContextPropagator<Map<String, String>> {
 *     public Map<String, String> capture() {
 *         Map<String, String> map = MDC.getCopyOfContextMap();
 *         return map == null ? Map.of() : map;
 *     }
 *
 *     public Runnable restore(Map<String, String> captured) {
 *         Map<String, String> before = capture();
 *         MDC.setContextMap(captured);
 *         return () -> MDC.setContextMap(before);
 *     }
 * }
 * }</pre>
 *
 * <p>For {@code io.micrometer:context-propagation}; {@code clearMissing} hides the values of the thread that runs the
 * code where the caller had none:
 *
 * <pre>{@code
 * class MicrometerPropagator implements ContextPropagator<ContextSnapshot> {
 *     private final ContextSnapshotFactory factory =
 *             ContextSnapshotFactory.builder().clearMissing(true).build();
 *
 *     public ContextSnapshot capture() {
 *         return factory.captureAll();
 *     }
 *
 *     public Runnable restore(ContextSnapshot captured) {
 *         return captured.setThreadLocals()::close;
 *     }
 * }
 * }</pre>
 *
 * <p>Any thread may call the methods. An exception of {@code capture} is thrown to the caller, whose request is not
 * made. An exception of {@code restore}, of the returned {@code Runnable} or of {@code around} itself goes to the thread's
 * handler for uncaught exceptions; the caller's code runs all the same.
 *
 * @param <C> the type of what is captured
 */
public interface ContextPropagator<C extends @Nullable Object> {
    /** Returns what belongs to the current thread. */
    C capture();

    /** Sets what was captured on the current thread. The returned {@code Runnable} sets again what was there before. */
    Runnable restore(C captured);

    /**
     * Runs the action with what was captured; what the caller's code needs that can only be set around a call, such as a
     * {@code ScopedValue}, is set here. By default: {@link #restore}, the action, and what {@code restore} has returned.
     * An implementation calls the action once, on this thread, before it returns, and returns what that returns. If it
     * fails to call it, the action runs without it.
     *
     * @throws Exception what the action throws
     */
    default <T extends @Nullable Object> T around(C captured, Callable<T> action) throws Exception {
        Runnable undo = restore(captured);
        try {
            return action.call();
        } finally {
            undo.run();
        }
    }

    /**
     * A propagator of these {@code ScopedValue}s, on a JDK that has them (25 or newer). They have to be listed, because
     * the bindings of a thread cannot be enumerated. A value that the caller has not bound stays as it is on the thread
     * that runs the code: a binding cannot be taken away.
     *
     * <pre>{@code
     * static final ScopedValue<User> USER = ScopedValue.newInstance();
     *
     * ContextPropagation.enable(ContextPropagator.ofScopedValues(USER));
     * ScopedValue.where(USER, user).run(() -> semaphore.withPermit(() -> load(USER.get())));
     * }</pre>
     *
     * @throws UnsupportedOperationException if this JDK has no scoped values
     * @throws IllegalArgumentException if one of the {@code values} is no {@code ScopedValue}
     */
    static ContextPropagator<?> ofScopedValues(Object... values) {
        return new ScopedValues(values);
    }
}
