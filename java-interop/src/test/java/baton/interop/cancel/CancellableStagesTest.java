package baton.interop.cancel;

import static baton.interop.Futures.awaitFailure;
import static baton.interop.Futures.typeOf;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import baton.interop.CancellableFuture;
import baton.interop.Futures;
import baton.interop.internal.cancel.CancellableWork;
import baton.interop.internal.cancel.Works;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Executor;
import java.util.concurrent.Future;
import java.util.concurrent.TimeoutException;
import java.util.function.BiConsumer;
import java.util.function.BiFunction;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.Supplier;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Every way to derive a stage, on the JDK that runs this test. */
class CancellableStagesTest {
    /** One of the methods of CompletionStage. */
    record Way(Method method) {
        boolean composes() {
            return method.getName().contains("ompose");
        }

        boolean hasTwoSources() {
            return method.getParameterCount() > 0 && method.getParameterTypes()[0] == CompletionStage.class;
        }

        boolean either() {
            return method.getName().contains("Either");
        }

        CompletableFuture<?> derive(CompletableFuture<?> source, CompletionStage<?> other) {
            return derive(source, other, composes() ? CompletableFuture.completedFuture(7) : 7);
        }

        CompletableFuture<?> derive(CompletableFuture<?> source, CompletionStage<?> other, Object answer) {
            Object[] arguments = Arrays.stream(method.getParameterTypes())
                    .map(type -> argument(type, other, answer))
                    .toArray();
            try {
                return (CompletableFuture<?>) method.invoke(source, arguments);
            } catch (ReflectiveOperationException e) {
                throw new AssertionError(e);
            }
        }

        private static Object argument(Class<?> type, CompletionStage<?> other, Object answer) {
            if (type == CompletionStage.class) return other;
            if (type == Executor.class) return (Executor) Runnable::run;
            if (type == Function.class) return (Function<Object, Object>) x -> answer;
            if (type == BiFunction.class) return (BiFunction<Object, Object, Object>) (x, y) -> answer;
            if (type == Consumer.class) return (Consumer<Object>) x -> {};
            if (type == BiConsumer.class) return (BiConsumer<Object, Object>) (x, y) -> {};
            if (type == Runnable.class) return (Runnable) () -> {};
            throw new AssertionError("new in this JDK: " + type);
        }

        @Override
        public String toString() {
            return method.getName()
                    + Stream.of(method.getParameterTypes())
                            .map(Class::getSimpleName)
                            .toList();
        }
    }

    static List<Way> ways() throws NoSuchMethodException {
        List<Way> ways = new ArrayList<>();
        for (Method method : CompletionStage.class.getMethods()) {
            if (method.getReturnType() == CompletionStage.class) ways.add(new Way(method));
        }
        ways.sort(Comparator.comparing(Way::toString));
        assertTrue(ways.size() >= 42);
        return ways;
    }

    static List<Way> waysWithTwoSources() throws NoSuchMethodException {
        return ways().stream().filter(Way::hasTwoSources).toList();
    }

    static List<Way> waysWithOneSource() throws NoSuchMethodException {
        return ways().stream().filter(way -> !way.hasTwoSources()).toList();
    }

    static List<Way> composing() throws NoSuchMethodException {
        return ways().stream().filter(Way::composes).toList();
    }

    private static <T> CancellableFuture<T> promise() {
        return CancellableFuture.of(new CompletableFuture<>());
    }

    /** A future, and its work once the work has been cancelled. */
    private static final class Work {
        private final List<CancellableWork> cancelled = new ArrayList<>();
        private final CancellableFuture<Integer> future;

        Work() {
            future = promise();
            CancellableWork work = Works.workOf(future);
            work.addTeardown(() -> cancelled.add(work));
        }

        void assertCancelled(Throwable reason) {
            assertTrue(future.isCancelled());
            assertSame(reason, cancelled.get(0).reason());
        }

        void assertWanted() {
            assertFalse(future.isDone());
            assertEquals(List.of(), cancelled);
        }
    }

    private static String outcome(CompletableFuture<?> future) {
        try {
            return "" + Futures.await(future.handle((value, e) -> e == null ? "value " + value : causes(e)));
        } catch (RuntimeException e) {
            return causes(e);
        }
    }

    private static String causes(Throwable e) {
        return typeOf(e).getName() + (e.getCause() == null ? "" : " of " + causes(e.getCause()));
    }

    private static void end(CompletableFuture<Integer> source, boolean well) {
        if (well) source.complete(1);
        else source.completeExceptionally(new IllegalStateException("source"));
    }

    @ParameterizedTest
    @MethodSource("ways")
    void stage_completedOrFailedBeforeOrAfterItIsDerived_isAsCompletableFutureHasIt(Way way) {
        for (int i = 0; i < 128; i++) {
            boolean early = (i & 1) != 0;
            boolean well = (i & 2) != 0;
            boolean otherEarly = (i & 4) != 0;
            boolean otherWell = (i & 8) != 0;
            boolean otherPlain = (i & 16) != 0;
            boolean throwing = (i & 32) != 0;
            boolean minimal = (i & 64) != 0;
            CompletableFuture<Integer> seven = CompletableFuture.completedFuture(7);
            Object inner = minimal ? seven.minimalCompletionStage() : seven;
            Object answer = throwing ? new Object() : way.composes() ? inner : 7;
            List<String> outcomes = new ArrayList<>();
            for (Supplier<CompletableFuture<Integer>> kind : List.<Supplier<CompletableFuture<Integer>>>of(
                    CompletableFuture::new, CancellableStagesTest::promise)) {
                CompletableFuture<Integer> source = kind.get();
                CompletableFuture<Integer> other = otherPlain ? new CompletableFuture<>() : kind.get();
                if (early) end(source, well);
                if (otherEarly) end(other, otherWell);
                CompletableFuture<?> derived =
                        way.derive(source, minimal ? other.minimalCompletionStage() : other, answer);
                if (source instanceof CancellableFuture) assertInstanceOf(CancellableFuture.class, derived);
                if (!early) end(source, well);
                if (!otherEarly) end(other, otherWell);
                outcomes.add(outcome(derived));
            }
            assertEquals(outcomes.get(0), outcomes.get(1), way + " in case " + i);
        }
    }

    @ParameterizedTest
    @MethodSource("ways")
    void cancel_ofTheOnlyStage_reachesTheSource(Way way) {
        Work work = new Work();
        CancellableFuture<?> derived = (CancellableFuture<?>) way.derive(work.future, new CompletableFuture<>());
        Exception reason = new Exception("why");
        assertTrue(derived.cancel(reason));
        assertTrue(derived.isCancelled());
        work.assertCancelled(reason);
        assertSame(reason, awaitFailure(work.future).getCause());
        assertSame(awaitFailure(derived), awaitFailure(work.future), "one exception goes through all");
        assertTrue(derived.terminated().isDone());
    }

    @ParameterizedTest
    @MethodSource("waysWithTwoSources")
    void cancel_ofAStageWithTwoSources_reachesBoth(Way way) {
        for (boolean plain : new boolean[] {false, true}) {
            Work one = new Work();
            Work two = new Work();
            CompletableFuture<Integer> other = plain ? new CompletableFuture<>() : two.future;
            way.derive(one.future, other).cancel(true);
            assertTrue(one.future.isCancelled());
            assertTrue(other.isCancelled());
        }
        Work both = new Work();
        way.derive(both.future, both.future).cancel(true);
        assertTrue(both.future.isCancelled(), "twice the same");
    }

    @ParameterizedTest
    @MethodSource("ways")
    void cancel_ofOneOfSeveral_leavesTheSource(Way way) {
        Work work = new Work();
        CompletableFuture<?> one = way.derive(work.future, new CompletableFuture<>());
        CompletableFuture<?> two = work.future.thenRun(() -> {});
        CompletableFuture<?> three = way.derive(work.future, new CompletableFuture<>());
        assertTrue(one.cancel(true));
        assertTrue(one.cancel(true), "again changes nothing");
        assertTrue(three.cancel(true));
        work.assertWanted();
        assertTrue(two.cancel(false));
        assertTrue(work.future.isCancelled());
    }

    @ParameterizedTest
    @MethodSource("ways")
    void orTimeout_ofAStage_reachesTheSource(Way way) {
        Work work = new Work();
        CancellableFuture<?> derived = (CancellableFuture<?>) way.derive(work.future, new CompletableFuture<>());
        Throwable e = awaitFailure(derived.orTimeout(Duration.ZERO));
        assertInstanceOf(TimeoutException.class, e);
        work.assertCancelled(e);
        assertSame(e, awaitFailure(work.future).getCause());
    }

    @ParameterizedTest
    @MethodSource("ways")
    void cancel_ofTheSource_failsTheStageAsCompletableFutureHasIt(Way way) {
        List<String> outcomes = new ArrayList<>();
        for (CompletableFuture<Integer> source :
                List.of(new CompletableFuture<Integer>(), CancellableStagesTest.<Integer>promise())) {
            CompletableFuture<Integer> other =
                    way.either() ? new CompletableFuture<>() : CompletableFuture.completedFuture(1);
            CompletableFuture<?> derived = way.derive(source, other);
            assertTrue(source.cancel(true));
            outcomes.add(outcome(derived) + " " + derived.isCancelled());
        }
        assertEquals(outcomes.get(0), outcomes.get(1));
    }

    @ParameterizedTest
    @MethodSource("composing")
    void cancel_ofAComposedStage_reachesTheInnerOne(Way way) {
        for (Supplier<CompletionStage<?>> kind : List.<Supplier<CompletionStage<?>>>of(
                CompletableFuture::new, CancellableStagesTest::promise, () -> new Work().future.thenApply(x -> x))) {
            CompletableFuture<?> inner = kind.get().toCompletableFuture();
            CancellableFuture<Integer> source = promise();
            CompletableFuture<?> derived = way.derive(source, null, inner);
            end(source, !way.method.getName().contains("exceptionally"));
            awaitDependent(inner);
            assertTrue(derived.cancel(true));
            assertTrue(inner.isCancelled());
            assertFalse(source.isCancelled());
        }
    }

    /** Waits until the inner stage has a dependent: an {@code Async} method adds it on another thread. */
    private static void awaitDependent(CompletableFuture<?> inner) {
        while (inner.getNumberOfDependents() == 0) Thread.onSpinWait();
    }

    @Test
    void cancel_ofAComposedStageWhoseInnerOneIsNotThereYet_reachesItWhenItComes() {
        for (CompletableFuture<Integer> inner : List.of(new CompletableFuture<Integer>(), new Work().future)) {
            Futures.Steps steps = new Futures.Steps();
            CancellableFuture<Integer> source = promise();
            List<CompletableFuture<?>> derived = new ArrayList<>();
            derived.add(source.thenComposeAsync(
                    value -> {
                        assertTrue(derived.get(0).cancel(true));
                        assertFalse(inner.isDone());
                        return inner;
                    },
                    steps));
            source.complete(1);
            steps.runAll();
            assertTrue(derived.get(0).isCancelled());
            assertTrue(inner.isCancelled());
        }
    }

    @Test
    void cancel_ofAComposedStage_leavesAnInnerOneThatOthersWant() {
        Work inner = new Work();
        CompletableFuture<?> other = inner.future.thenApply(x -> x);
        CancellableFuture<Integer> composed =
                CancellableFuture.of(CompletableFuture.completedFuture(1)).thenCompose(x -> inner.future);
        composed.cancel(true);
        inner.assertWanted();
        other.cancel(true);
        assertTrue(inner.future.isCancelled());
    }

    /** A stage that is a Future but not a CompletableFuture; its toCompletableFuture returns a new one. */
    @Test
    void cancel_reachesAStageThatIsAFutureOfItsOwnKind() {
        CompletableFuture<Integer> own = new CompletableFuture<>();
        @SuppressWarnings("unchecked")
        CompletionStage<Integer> stage = (CompletionStage<Integer>) Proxy.newProxyInstance(
                getClass().getClassLoader(),
                new Class<?>[] {CompletionStage.class, Future.class},
                (proxy, method, arguments) ->
                        method.getName().equals("toCompletableFuture") ? own.copy() : method.invoke(own, arguments));
        CancellableFuture.of(stage).thenApply(x -> x).cancel(true);
        assertTrue(own.isCancelled());
    }

    @Test
    void either_completedByTheOther_leavesTheSlowerOneAndCountsThereNoMore() {
        for (boolean bothOurs : List.of(true, false)) {
            Work work = new Work();
            CompletableFuture<Integer> other = bothOurs ? promise() : new CompletableFuture<>();
            CancellableFuture<Integer> either = work.future.applyToEither(other, x -> x);
            CancellableFuture<Void> failed = work.future.acceptEither(other, x -> {
                throw new IllegalStateException();
            });
            CancellableFuture<Void> ran = work.future.runAfterEither(other, () -> {});
            CancellableFuture<Integer> second = work.future.thenApply(x -> x);
            other.complete(2);
            assertEquals(2, either.join());
            assertTrue(failed.isCompletedExceptionally() && ran.isDone());
            work.assertWanted();
            second.cancel(true);
            assertTrue(work.future.isCancelled());
        }
    }

    @Test
    void copy_cancelled_cancelsNothingAndStillCounts() {
        Work work = new Work();
        CancellableFuture<Integer> copy = work.future.copy();
        CancellableFuture<Integer> other = work.future.copy();
        work.future.thenApply(x -> x).cancel(true);
        assertTrue(copy.cancel(true));
        work.assertWanted();
        CancellableFuture<Integer> behind = other.thenApply(x -> x + 1);
        work.future.complete(3);
        assertEquals(4, behind.join());
    }

    @Test
    void reason_isTheSameOnAllJdksForDependents_andSomewhereBehindWhatJoinThrows() {
        IllegalStateException reason = new IllegalStateException("why");
        CancellableFuture<Integer> future = promise();
        future.cancel(reason);
        assertEquals(reason, Futures.failure(future).getCause());
        Throwable thrown = assertThrows(CancellationException.class, future::join);
        boolean isDeeper = Runtime.version().feature() >= 25;
        assertEquals(reason, isDeeper ? thrown.getCause().getCause() : thrown.getCause());
    }

    @Test
    void minimalStage_countsAndCannotBeCancelled() {
        Work work = new Work();
        CompletionStage<Integer> minimal = work.future.minimalCompletionStage();
        work.future.thenApply(x -> x).cancel(true);
        minimal.toCompletableFuture().cancel(true);
        work.assertWanted();
        work.future.complete(3);
        assertEquals(3, minimal.toCompletableFuture().join());
    }

    @Test
    void timeoutOfASource_isNoConsumer() {
        Work work = new Work();
        work.future.orTimeout(Duration.ofDays(1)).completeOnTimeout(1, 1, java.util.concurrent.TimeUnit.DAYS);
        work.future.thenApply(x -> x).cancel(true);
        assertTrue(work.future.isCancelled());
    }
}
