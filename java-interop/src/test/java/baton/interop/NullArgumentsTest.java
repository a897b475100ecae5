package baton.interop;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertTrue;

import baton.BatonClock;
import baton.Priority;
import baton.batch.ConcurrencyConfig;
import baton.monitoring.AlertRules;
import baton.resilience.RetryBudget;
import baton.scheduler.PriorityPolicy;
import baton.shared.SharedRegionOptions;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.lang.reflect.Parameter;
import java.lang.reflect.TypeVariable;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import java.util.function.BiConsumer;
import java.util.function.BiFunction;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.Predicate;
import java.util.function.Supplier;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/** Every public method with null for one of its parameters. Annotations say which parameters accept null. */
class NullArgumentsTest {
    /** A fresh object of each class; its {@code toString} tells whether a call has changed it. */
    private static List<Object> objects() {
        List<CancellationToken> tokens = new ArrayList<>();
        Futures.Steps never = new Futures.Steps();
        CancellableFuture<Integer> future = CancellableFuture.supply(Runnable::run, token -> {
            tokens.add(token);
            return 1;
        });
        AsyncMutex mutex = AsyncMutex.create();
        AsyncChannel<Object> channel = AsyncChannel.create(1);
        AsyncReadWriteLock rw = AsyncReadWriteLock.create();
        List<Object> objects = new ArrayList<>(List.of(
                AsyncSemaphore.create(1),
                mutex,
                mutex.newCondition(),
                rw,
                AsyncLatch.create(1),
                AsyncWaitGroup.create(),
                AsyncBarrier.create(2),
                AsyncChannel.create(1),
                channel.reserve().join(),
                rw.lockUpgradable().join(),
                AsyncTaskScheduler.create(1),
                AsyncTaskScheduler.builder(1),
                AsyncTaskScheduler.builder(1).executor(never).build().schedule(Priority.LOW, () -> 1),
                TaskOptions.of(Priority.LOW),
                PriorityExecutor.over(never, 1),
                Select.first(),
                CancellableFuture.supply(never, token -> future.join()),
                tokens.get(0),
                TaskScope.open(never),
                AsyncRateLimiter.tokenBucket(1, Duration.ofDays(1)),
                AsyncRateLimiter.builder(1, Duration.ofDays(1)),
                AsyncRetry.builder().build(),
                AsyncRetry.builder(),
                AsyncCircuitBreaker.create(null),
                AsyncCircuitBreaker.builder(),
                AsyncSemaphores.create(1),
                AsyncMutexes.create(),
                AsyncSingleFlight.create(),
                AsyncRateLimiters.create(AsyncRateLimiter.builder(1, Duration.ofDays(1))),
                AsyncCircuitBreakers.create(AsyncCircuitBreaker.builder(), Duration.ofDays(1)),
                AsyncPipeline.builder(null).build(),
                AsyncPipeline.builder(null),
                AsyncMonitor.start(Duration.ofDays(1), AsyncMonitor.rules(), alert -> {}, never),
                REGION,
                REGION.mutex("m")));
        for (Object object : List.copyOf(objects)) blocking(object).ifPresent(objects::add);
        return objects;
    }

    private static Optional<Object> blocking(Object object) {
        try {
            return Optional.of(object.getClass().getMethod("blocking").invoke(object));
        } catch (NoSuchMethodException none) {
            return Optional.empty();
        } catch (ReflectiveOperationException e) {
            throw new AssertionError(e);
        }
    }

    /** One for all cases: it is a file. No case changes it. */
    private static final AsyncSharedRegion REGION = region();

    private static AsyncSharedRegion region() {
        try {
            Path directory = Files.createTempDirectory("null-arguments");
            for (String name : List.of("", "region", ".region.live"))
                directory.resolve(name).toFile().deleteOnExit();
            return AsyncSharedRegion.open(directory.resolve("region"));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static final List<Class<?>> STATIC_ONLY = List.of(LeakReport.class, ContextPropagation.class);

    static Stream<Arguments> parameters() {
        List<Arguments> found = new ArrayList<>();
        for (Class<?> type : types()) {
            for (Method method : type.getDeclaredMethods()) {
                if (!Modifier.isPublic(method.getModifiers()) || method.isSynthetic()) continue;
                if (method.getName().equals("equals")) continue;
                Parameter[] parameters = method.getParameters();
                for (int i = 0; i < parameters.length; i++) {
                    if (!parameters[i].getType().isPrimitive()) found.add(Arguments.of(method, i));
                }
            }
        }
        assertTrue(found.size() > 150, () -> found.size() + " parameters");
        return found.stream();
    }

    private static List<Class<?>> types() {
        List<Class<?>> types = new ArrayList<>(STATIC_ONLY);
        for (Object object : objects()) types.add(type(object));
        types.add(ChannelControl.class);
        return types;
    }

    /** The public type of the object: its class, or the interface of the exported package that its class implements. */
    private static Class<?> type(Object object) {
        Class<?> own = object.getClass();
        if (own.getPackageName().equals("baton.interop")) return own;
        return object instanceof UpgradablePermit ? UpgradablePermit.class : Reservation.class;
    }

    private static boolean acceptsNull(Parameter parameter) {
        return parameter.getAnnotatedType().isAnnotationPresent(Nullable.class)
                || parameter.getParameterizedType() instanceof TypeVariable<?> type && !isKey(type);
    }

    private static boolean isKey(TypeVariable<?> type) {
        return type.getName().equals("K");
    }

    @ParameterizedTest(name = "{0} {1}")
    @MethodSource("parameters")
    void null_asAnArgument_isRefusedByNameOrAccepted(Method method, int index) throws Exception {
        List<Object> objects = objects();
        Optional<Object> receiver = objects.stream()
                .filter(object -> method.getDeclaringClass().isAssignableFrom(type(object)))
                .findFirst();
        Object[] arguments = Arrays.stream(method.getParameterTypes())
                .map(type -> argument(type, objects))
                .toArray();
        arguments[index] = null;
        String before = receiver.toString();
        Parameter parameter = method.getParameters()[index];
        try {
            Object result = method.invoke(receiver.orElse(null), arguments);
            assertTrue(acceptsNull(parameter), "accepted, returned " + result);
        } catch (InvocationTargetException e) {
            assertFalse(acceptsNull(parameter), e.getCause()::toString);
            String message =
                    assertInstanceOf(NullPointerException.class, e.getCause()).getMessage();
            String name = parameter.getName();
            assertEquals(name, message, () -> "of " + method);
            assertEquals(before, receiver.toString());
        }
    }

    /** An argument that is no null. */
    private static Object argument(Class<?> type, List<Object> objects) {
        if (type == int.class) return 1;
        if (type == long.class) return 1L;
        if (type == boolean.class) return true;
        if (type == double.class) return 1.0;
        if (type == byte[].class) return new byte[0];
        if (type.isEnum()) return type.getEnumConstants()[0];
        if (type == Object.class || type == String.class) return "me";
        if (type == Path.class) return Path.of("never-opened");
        if (type == SharedRegionOptions.class) return new SharedRegionOptions();
        if (type == TimeUnit.class) return TimeUnit.SECONDS;
        if (type == Duration.class) return Duration.ofNanos(1);
        if (type == Throwable.class) return new Exception();
        if (type == Executor.class || type == Runnable.class || type == Callable.class) return new Tasks();
        if (type == CompletionStage.class) return new CompletableFuture<>();
        if (type == PriorityPolicy.class) return PriorityPolicy.Strict.INSTANCE;
        if (type == Supplier.class) return (Supplier<Object>) () -> CompletableFuture.completedFuture(1);
        if (type == Function.class) return (Function<Object, Object>) x -> CompletableFuture.completedFuture(1);
        if (type == BiConsumer.class) return (BiConsumer<Object, Object>) (x, y) -> {};
        if (type == BiFunction.class) return (BiFunction<Object, Object, Object>) (x, y) -> x;
        if (type == Predicate.class) return (Predicate<Object>) x -> true;
        if (type == Collection.class) return List.of("a");
        if (type == Optional.class) return Optional.of("3");
        if (type == AlertRules.class) return AsyncMonitor.rules();
        if (type == AsyncBatchProcessor.class) return AsyncBatchProcessor.create(new ConcurrencyConfig());
        if (type == AsyncSchedule.class)
            return AsyncSchedule.builder(due -> new CompletableFuture<>())
                    .executor(new Tasks())
                    .start();
        if (type == RetryBudget.class) return new RetryBudget(1, 1);
        if (type == BatonClock.class) return BatonClock.system();
        if (type == Consumer.class) return (Consumer<Object>) x -> {};
        if (type == CancellableFunction.class) return (CancellableFunction<Object>) token -> 1;
        if (type == BlockingFunction.class) return (BlockingFunction<Object, Object>) x -> 1;
        if (type == AsyncCallGuard.class) return (AsyncCallGuard) maxWait -> new CompletableFuture<>();
        if (type == CancellableAction.class) return (CancellableAction) token -> {};
        if (type == ContextPropagator.class) return new NoContext();
        if (type == Permit.class) return ((AsyncMutex) objects.get(1)).lock().join();
        for (Object object : objects) {
            if (type.isInstance(object)) return object;
            try {
                Object kotlin = object.getClass().getMethod("kotlin").invoke(object);
                if (type.isInstance(kotlin)) return kotlin;
            } catch (ReflectiveOperationException e) {
                continue;
            }
        }
        throw new AssertionError("no argument of " + type);
    }

    private static final class NoContext implements ContextPropagator<String> {
        @Override
        public String capture() {
            return "";
        }

        @Override
        public Runnable restore(String captured) {
            return () -> {};
        }
    }

    private static final class Tasks implements Executor, Runnable, Callable<Object> {
        @Override
        public void execute(Runnable task) {}

        @Override
        public void run() {}

        @Override
        public Object call() {
            return 1;
        }
    }
}
