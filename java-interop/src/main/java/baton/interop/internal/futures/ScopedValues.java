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
    private static final @Nullable Calls CALLS = Calls.find();

    private final Calls calls;
    private final List<Object> values;

    /** @throws UnsupportedOperationException if this JDK has no scoped values */
    public ScopedValues(Object... values) {
        this.values = List.of(values);
        if (CALLS == null) throw new UnsupportedOperationException("no ScopedValue in JDK " + Runtime.version());
        calls = CALLS;
        for (Object value : values) {
            if (!calls.type.isInstance(value)) {
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
            boolean isBound = (boolean) Objects.requireNonNull(invoke(calls.isBound, key));
            if (isBound) bindings.add(new Binding(key, invoke(calls.get, key)));
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
                    ? invoke(calls.where, null, binding.key, binding.value)
                    : invoke(calls.andWhere, carrier, binding.key, binding.value);
        }
        if (carrier == null) return action.call();
        var result = new Result<>(action);
        invoke(calls.run, carrier, (Runnable) result);
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

    /** The calls of {@code ScopedValue} and its carrier. */
    private record Calls(Class<?> type, Method isBound, Method get, Method where, Method andWhere, Method run) {
        /** Null if this JDK has none. */
        static @Nullable Calls find() {
            try {
                Class<?> type = Class.forName("java.lang.ScopedValue");
                Class<?> carrier = Class.forName("java.lang.ScopedValue$Carrier");
                return new Calls(
                        type,
                        type.getMethod("isBound"),
                        type.getMethod("get"),
                        type.getMethod("where", type, Object.class),
                        carrier.getMethod("where", type, Object.class),
                        carrier.getMethod("run", Runnable.class));
            } catch (ReflectiveOperationException e) {
                return null;
            }
        }
    }
}
