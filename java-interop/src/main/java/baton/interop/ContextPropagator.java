package baton.interop;

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
 * made. An exception of {@code restore}, or of the returned {@code Runnable}, goes to the thread's handler for uncaught
 * exceptions; the caller's code runs all the same.
 *
 * @param <C> the type of what is captured
 */
public interface ContextPropagator<C extends @Nullable Object> {
    /** Returns what belongs to the current thread. */
    C capture();

    /** Sets what was captured on the current thread. The returned {@code Runnable} sets again what was there before. */
    Runnable restore(C captured);
}
