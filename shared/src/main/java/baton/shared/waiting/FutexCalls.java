package baton.shared.waiting;

import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.lang.reflect.Array;
import java.lang.reflect.Method;
import java.nio.Buffer;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Optional;

/**
 * Linux' futex by the foreign function API of Java 22, found by reflection because this file is compiled for Java 17. The one
 * place that knows that API.
 *
 * <p>It is there only where native access is enabled already: asking for it would print a warning. Segments are passed as {@code
 * Object}, and keep their mapping alive during a call.
 *
 * <p>Only the wake is linked as critical, which saves the change of the thread's state: a thread that slept in a critical call
 * would hold up every safepoint of the JVM.
 */
public final class FutexCalls {
    /** Null where the futex cannot be used. */
    public static final FutexCalls AVAILABLE = find();

    private static final int FUTEX_WAIT = 0;
    private static final int FUTEX_WAKE = 1;
    private static final long NANOS_PER_SECOND = 1_000_000_000;

    /** (address, int expected, timeout) long */
    private final MethodHandle waitCall;

    /** (address, int count) long */
    private final MethodHandle wakeCall;

    private final Method ofBuffer;

    private FutexCalls(MethodHandle waitCall, MethodHandle wakeCall, Method ofBuffer) {
        this.waitCall = waitCall;
        this.wakeCall = wakeCall;
        this.ofBuffer = ofBuffer;
    }

    /** The memory of a direct buffer, as the calls take it. */
    public Object segment(ByteBuffer direct) {
        try {
            return ofBuffer.invoke(null, direct);
        } catch (ReflectiveOperationException e) {
            throw new IllegalStateException(e);
        }
    }

    /** A timeout as {@link #sleep} takes it, any number of times. */
    public Object timeout(long nanos) {
        ByteBuffer timeout = ByteBuffer.allocateDirect(16).order(ByteOrder.nativeOrder());
        timeout.putLong(0, nanos / NANOS_PER_SECOND).putLong(8, nanos % NANOS_PER_SECOND);
        return segment(timeout);
    }

    /** Sleeps while the int is {@code expected}, until the timeout at most, or less for any reason. */
    public void sleep(Object address, int expected, Object timeout) {
        try {
            long unused = (long) waitCall.invokeExact(address, expected, timeout);
        } catch (Throwable e) {
            throw new IllegalStateException(e);
        }
    }

    /** Wakes up to {@code count} sleepers of any process; returns how many, or -1. */
    public long wake(Object address, int count) {
        try {
            return (long) wakeCall.invokeExact(address, count);
        } catch (Throwable e) {
            throw new IllegalStateException(e);
        }
    }

    private static FutexCalls find() {
        long number = numberOfFutex();
        if (number < 0 || Runtime.version().feature() < 22) return null;
        try {
            Object enabled = Module.class.getMethod("isNativeAccessEnabled").invoke(FutexCalls.class.getModule());
            if (!Boolean.TRUE.equals(enabled)) return null;
            FutexCalls calls = link(number);
            // A filter of system calls may refuse it.
            ByteBuffer word = ByteBuffer.allocateDirect(8);
            return calls.wake(calls.segment(word), 1) == 0 ? calls : null;
        } catch (ReflectiveOperationException | RuntimeException | LinkageError e) {
            return null;
        }
    }

    private static long numberOfFutex() {
        if (!"Linux".equals(System.getProperty("os.name"))) return -1;
        String arch = System.getProperty("os.arch");
        if ("amd64".equals(arch)) return 202;
        return "aarch64".equals(arch) ? 98 : -1;
    }

    /** {@code long syscall(long number, uint32_t *word, int op, uint32_t value, timespec *timeout, void *, int)} */
    private static FutexCalls link(long number) throws ReflectiveOperationException {
        Class<?> linkerType = foreign("Linker");
        Class<?> optionType = foreign("Linker$Option");
        Class<?> segmentType = foreign("MemorySegment");
        Class<?> layoutType = foreign("MemoryLayout");
        Class<?> valueLayouts = foreign("ValueLayout");
        Class<?> descriptorType = foreign("FunctionDescriptor");

        Object linker = linkerType.getMethod("nativeLinker").invoke(null);
        Object lookup = linkerType.getMethod("defaultLookup").invoke(linker);
        Optional<?> symbol = (Optional<?>)
                foreign("SymbolLookup").getMethod("find", String.class).invoke(lookup, "syscall");
        Object function = symbol.orElseThrow(() -> new IllegalStateException("no syscall"));

        Object longLayout = valueLayouts.getField("JAVA_LONG").get(null);
        Object intLayout = valueLayouts.getField("JAVA_INT").get(null);
        Object address = valueLayouts.getField("ADDRESS").get(null);
        Object arguments = array(layoutType, longLayout, address, intLayout, intLayout, address, address, intLayout);
        Object descriptor =
                descriptorType.getMethod("of", layoutType, arguments.getClass()).invoke(null, longLayout, arguments);

        Object variadic = optionType.getMethod("firstVariadicArg", int.class).invoke(null, 1);
        Object critical = optionType.getMethod("critical", boolean.class).invoke(null, false);
        Method downcall = linkerType.getMethod("downcallHandle", segmentType, descriptorType, optionType.arrayType());
        MethodHandle plain = (MethodHandle) downcall.invoke(linker, function, descriptor, array(optionType, variadic));
        MethodHandle brief =
                (MethodHandle) downcall.invoke(linker, function, descriptor, array(optionType, variadic, critical));

        Object none = segmentType.getField("NULL").get(null);
        MethodHandle waiting = MethodHandles.insertArguments(plain, 5, none, 0);
        waiting = MethodHandles.insertArguments(waiting, 2, FUTEX_WAIT);
        waiting = MethodHandles.insertArguments(waiting, 0, number);
        MethodHandle waking = MethodHandles.insertArguments(brief, 4, none, none, 0);
        waking = MethodHandles.insertArguments(waking, 2, FUTEX_WAKE);
        waking = MethodHandles.insertArguments(waking, 0, number);
        return new FutexCalls(
                waiting.asType(MethodType.methodType(long.class, Object.class, int.class, Object.class)),
                waking.asType(MethodType.methodType(long.class, Object.class, int.class)),
                segmentType.getMethod("ofBuffer", Buffer.class));
    }

    private static Class<?> foreign(String name) throws ClassNotFoundException {
        return Class.forName("java.lang.foreign." + name);
    }

    private static Object array(Class<?> type, Object... elements) {
        Object array = Array.newInstance(type, elements.length);
        for (int i = 0; i < elements.length; i++) Array.set(array, i, elements[i]);
        return array;
    }
}
