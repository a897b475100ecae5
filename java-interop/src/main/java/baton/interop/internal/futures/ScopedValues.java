package baton.interop.internal.futures;

import baton.interop.ContextPropagator;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;

/** Carries {@code java.lang.ScopedValue}s, by reflection: the oldest JDK that we run on has none. */
public final class ScopedValues implements ContextPropagator<List<ScopedValues.Binding>> {
    private static final @Nullable Class<?> TYPE = find("java.lang.ScopedValue");

    private final List<Object> values;

    /** @throws UnsupportedOperationException if this JDK has no scoped values */
    public ScopedValues(Object... values) {
        this.values = List.of(values);
        if (TYPE == null) throw new UnsupportedOperationException("no ScopedValue in JDK " + Runtime.version());
        for (Object value : values) {
            if (!TYPE.isInstance(value)) {
                throw new IllegalArgumentException("values contain " + value + ", must be ScopedValues");
            }
        }
    }

    /** A value that the caller has bound, and to what. */
    public record Binding(Object key, @Nullable Object value) {}

    @Override
    public List<Binding> capture() {
        List<Binding> bindings = new ArrayList<>(values.size());
        for (Object key : values) {
            boolean isBound = (boolean) Objects.requireNonNull(invoke(Calls.IS_BOUND, key));
            if (isBound) bindings.add(new Binding(key, invoke(Calls.GET, key)));
        }
        return bindings;
    }

    /** Nothing: they are bound around a call alone. */
    @Override
    public Runnable restore(List<Binding> captured) {
        return () -> {};
    }

    @Override
    public <T extends @Nullable Object> T around(List<Binding> captured, Callable<T> action) throws Exception {
        Object carrier = null;
        for (Binding binding : captured) {
            carrier = carrier == null
                    ? invoke(Calls.WHERE, null, binding.key, binding.value)
                    : invoke(Calls.AND_WHERE, carrier, binding.key, binding.value);
        }
        if (carrier == null) return action.call();
        var result = new Result<>(action);
        invoke(Calls.RUN, carrier, (Runnable) result);
        return result.get();
    }

    /** Of the action: {@code Carrier.run} is in all JDKs that have scoped values, {@code call} changed its type. */
    private static final class Result<T extends @Nullable Object> implements Runnable {
        private final Callable<T> action;
        private final List<T> value = new ArrayList<>(1);
        private @Nullable Exception failure;

        Result(Callable<T> action) {
            this.action = action;
        }

        @Override
        public void run() {
            try {
                value.add(action.call());
            } catch (Exception e) {
                failure = e;
            }
        }

        T get() throws Exception {
            if (failure != null) throw failure;
            return value.get(0);
        }
    }

    private static @Nullable Object invoke(Method method, @Nullable Object target, @Nullable Object... arguments) {
        try {
            return method.invoke(target, arguments);
        } catch (InvocationTargetException e) {
            if (e.getCause() instanceof Error error) throw error;
            throw new IllegalStateException(e.getCause());
        } catch (IllegalAccessException e) {
            throw new IllegalStateException(e);
        }
    }

    private static @Nullable Class<?> find(String name) {
        try {
            return Class.forName(name);
        } catch (ClassNotFoundException e) {
            return null;
        }
    }

    /** Loaded where there are scoped values. */
    private static final class Calls {
        static final Method IS_BOUND;
        static final Method GET;
        static final Method WHERE;
        static final Method AND_WHERE;
        static final Method RUN;

        static {
            try {
                Class<?> type = Class.forName("java.lang.ScopedValue");
                Class<?> carrier = Class.forName("java.lang.ScopedValue$Carrier");
                IS_BOUND = type.getMethod("isBound");
                GET = type.getMethod("get");
                WHERE = type.getMethod("where", type, Object.class);
                AND_WHERE = carrier.getMethod("where", type, Object.class);
                RUN = carrier.getMethod("run", Runnable.class);
            } catch (ReflectiveOperationException e) {
                throw new ExceptionInInitializerError(e);
            }
        }
    }
}
