package baton.interop.internal.futures;

import baton.interop.ContextPropagator;
import baton.waiting.threads.Trampoline;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.Callable;
import java.util.concurrent.Executor;
import java.util.function.Function;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * The context of a caller, in which its code runs later. Each method that takes code returns it as it is while no
 * propagator is in use. As an executor, this runs commands in the context, on another executor or in place.
 */
public final class CallerContext implements Executor {
    private static volatile @Nullable ContextPropagator<? extends @Nullable Object> current;

    private final Around around;
    final @Nullable Executor executor;

    private CallerContext(Around around, @Nullable Executor executor) {
        this.around = around;
        this.executor = executor;
    }

    public static void use(@Nullable ContextPropagator<? extends @Nullable Object> propagator) {
        current = propagator;
    }

    /** The context of the current thread; null while no propagator is in use. */
    public static @Nullable CallerContext capture(@Nullable Executor executor) {
        var propagator = current;
        return propagator == null ? null : new CallerContext(captured(propagator), executor);
    }

    private static <C extends @Nullable Object> Around captured(ContextPropagator<C> propagator) {
        C captured = propagator.capture();
        return action -> propagator.around(captured, action);
    }

    /** A propagator with what it has captured. */
    private interface Around {
        void run(Callable<?> action) throws Exception;
    }

    /** An executor that runs commands in the caller's context, on {@code executor}, or in place if that is null. */
    public static @Nullable Executor executor(@Nullable Executor executor) {
        if (executor instanceof CallerContext) return executor;
        CallerContext context = capture(executor);
        return context == null ? executor : context;
    }

    /** As {@link #executor} without one, for a request that cannot be refused any more: a failure is reported. */
    static @Nullable Executor ofMadeRequest() {
        try {
            return executor(null);
        } catch (Throwable e) {
            Trampoline.report(e);
            return null;
        }
    }

    /** Runs the call on this thread, in the context if the executor is one, or if the action is bound to one. */
    public static void runFor(@Nullable Object executorOrAction, Runnable call) {
        if (executorOrAction instanceof CallerContext context) context.run(call);
        else if (executorOrAction instanceof Bound bound) bound.context.run(call);
        else call.run();
    }

    public static Runnable runnable(Runnable action) {
        CallerContext context = capture(null);
        return context == null ? action : () -> context.run(action);
    }

    public static <T extends @Nullable Object> Supplier<? extends T> supplier(Supplier<? extends T> action) {
        Objects.requireNonNull(action, "action");
        CallerContext context = capture(null);
        return context == null ? action : () -> context.<T, RuntimeException>call(action::get);
    }

    /** An action with its context. */
    public record Bound(CallerContext context, Object action) {}

    /** The action, {@link Bound} to the context if there is one. */
    public static Object bound(Object action) {
        CallerContext context = capture(null);
        return context == null ? action : new Bound(context, action);
    }

    public static <A extends @Nullable Object, T extends @Nullable Object> Function<? super A, ? extends T> function(
            Function<? super A, ? extends T> action) {
        return function(capture(null), action);
    }

    /** The function, run in the context if the executor is one. */
    static <A extends @Nullable Object, T extends @Nullable Object> Function<? super A, ? extends T> function(
            @Nullable Executor executor, Function<? super A, ? extends T> action) {
        return executor instanceof CallerContext context
                ? argument -> context.<T, RuntimeException>call(() -> action.apply(argument))
                : action;
    }

    public interface Action<T extends @Nullable Object, X extends Exception> {
        T call() throws X;
    }

    /** An exception of the propagator must not reach the thread that runs this, which may be releasing a lock. */
    public <T extends @Nullable Object, X extends Exception> T call(Action<T, X> action) throws X {
        var once = new OnceCalled<>(action);
        try {
            around.run(once);
        } catch (Throwable e) {
            if (e != once.failure) Trampoline.report(e);
        }
        return once.result();
    }

    /** Calls the action if the propagator does not, and keeps what it returns or throws from the propagator. */
    private static final class OnceCalled<T extends @Nullable Object, X extends Exception> implements Callable<T> {
        private final Action<T, X> action;
        private final List<T> value = new ArrayList<>(1);
        private @Nullable Throwable failure;

        OnceCalled(Action<T, X> action) {
            this.action = action;
        }

        @Override
        public T call() throws X {
            if (value.isEmpty() && failure == null) {
                try {
                    value.add(action.call());
                } catch (Throwable e) {
                    failure = e;
                }
            }
            return result();
        }

        @SuppressWarnings("unchecked") // the action throws an X or what is unchecked
        T result() throws X {
            if (failure instanceof Error error) throw error;
            if (failure != null) throw (X) failure;
            return value.isEmpty() ? call() : value.get(0);
        }
    }

    public void run(Runnable action) {
        var unused = this.<Object, RuntimeException>call(() -> {
            action.run();
            return this;
        });
    }

    @Override
    public void execute(Runnable command) {
        CallbackExecutor.run(this, command);
    }
}
