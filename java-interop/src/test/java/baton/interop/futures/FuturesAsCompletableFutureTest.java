package baton.interop.futures;

import static baton.interop.Futures.typeOf;
import static java.util.concurrent.TimeUnit.NANOSECONDS;
import static java.util.concurrent.TimeUnit.SECONDS;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;

import baton.interop.AsyncChannel;
import baton.interop.AsyncSemaphore;
import baton.interop.CancellableFuture;
import baton.interop.Select;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeoutException;
import java.util.function.Consumer;
import java.util.function.Supplier;
import java.util.stream.Stream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/** Every operation from outside on one of our futures ends as on a plain CompletableFuture. */
class FuturesAsCompletableFutureTest {
    private static final Executor HERE = Runnable::run;
    private static final Object VALUE = "value";

    private enum Ours {
        WITH_PERMIT(() -> taken().withPermit(() -> CompletableFuture.completedFuture(1))),
        WITH_PERMIT_RUNNING(() -> AsyncSemaphore.create(1).withPermit(CompletableFuture::new)),
        FOR_EACH(() -> AsyncChannel.create(0).forEach(element -> {})),
        SELECT(() -> Select.first().onReceive(AsyncChannel.create(0), x -> x).start()),
        CANCELLABLE(() -> CancellableFuture.of(new CompletableFuture<>())),
        CANCELLABLE_REQUEST(() -> CancellableFuture.of(taken().acquire())),
        CANCELLABLE_FUNCTION(() -> CancellableFuture.supply(task -> {}, token -> 1)),
        DERIVED(() -> CancellableFuture.of(new CompletableFuture<>()).thenApply(x -> x)),
        EITHER(() -> CancellableFuture.of(new CompletableFuture<>()).applyToEither(new CompletableFuture<>(), x -> x)),
        COPY(() -> CancellableFuture.of(new CompletableFuture<>()).copy());

        private final Supplier<CompletableFuture<?>> make;

        Ours(Supplier<CompletableFuture<?>> make) {
            this.make = make;
        }

        private static AsyncSemaphore taken() {
            AsyncSemaphore semaphore = AsyncSemaphore.create(1);
            semaphore.acquire().join();
            return semaphore;
        }
    }

    /** The operations on a future, and the log of their results. */
    private interface Deed {
        void to(CompletableFuture<Object> future, Consumer<Object> log) throws Exception;
    }

    private static Supplier<Object> throwing(RuntimeException e) {
        return () -> {
            throw e;
        };
    }

    private static void log(Consumer<Object> log, Runnable call) {
        try {
            call.run();
            log.accept("fine");
        } catch (RuntimeException e) {
            log.accept(typeOf(e));
        }
    }

    private static Map<String, Deed> deeds() {
        RuntimeException e = new IllegalStateException("why");
        Map<String, Deed> all = new LinkedHashMap<>();
        all.put("nothing", (f, log) -> log.accept(f.getNow(VALUE)));
        all.put("complete", (f, log) -> Stream.of(1, 2).forEach(n -> log.accept(f.complete(VALUE))));
        all.put("complete null", (f, log) -> log.accept(f.complete(null)));
        all.put("fail", (f, log) -> Stream.of(1, 2).forEach(n -> log.accept(f.completeExceptionally(e))));
        all.put("fail cancelled", (f, log) -> log.accept(f.completeExceptionally(new CancellationException())));
        all.put("fail wrapped", (f, log) -> log.accept(f.completeExceptionally(new CompletionException(e))));
        all.put("cancel", (f, log) -> Stream.of(true, false).forEach(may -> log.accept(f.cancel(may))));
        all.put("complete, cancel", (f, log) -> log.accept(f.complete(VALUE) + " " + f.cancel(true)));
        all.put("cancel, complete", (f, log) -> log.accept(f.cancel(true) + " " + f.complete(VALUE)));
        all.put("async", (f, log) -> log.accept(f.completeAsync(() -> VALUE, HERE) == f));
        all.put(
                "async elsewhere",
                (f, log) -> log.accept(f.completeAsync(() -> VALUE).get(120, SECONDS)));
        all.put("async throws", (f, log) -> log.accept(f.completeAsync(throwing(e), HERE) == f));
        all.put("async throws wrapped", (f, log) -> f.completeAsync(throwing(new CompletionException("m", e)), HERE));
        all.put("async throws cancelled", (f, log) -> f.completeAsync(throwing(new CancellationException()), HERE));
        all.put(
                "async on one that is done",
                (f, log) -> log.accept(f.complete(VALUE) && f.completeAsync(throwing(e), HERE) == f));
        all.put("obtrude", (f, log) -> f.obtrudeValue(VALUE));
        all.put("obtrude failure", (f, log) -> f.obtrudeException(e));
        all.put("complete, obtrude", (f, log) -> {
            f.complete("other");
            f.obtrudeValue(VALUE);
        });
        all.put("cancel, obtrude failure", (f, log) -> {
            f.cancel(true);
            f.obtrudeException(e);
        });
        all.put("timeout", (f, log) -> log.accept(awaited(f.orTimeout(1, NANOSECONDS))));
        all.put("timeout negative", (f, log) -> log.accept(awaited(f.orTimeout(Long.MIN_VALUE, SECONDS))));
        all.put("value on timeout", (f, log) -> log.accept(awaited(f.completeOnTimeout(VALUE, 1, NANOSECONDS))));
        all.put("value on timeout negative", (f, log) -> log.accept(awaited(f.completeOnTimeout(VALUE, -1, SECONDS))));
        all.put("timeout of one that is done", (f, log) -> {
            f.complete(VALUE);
            log.accept(f.orTimeout(0, SECONDS) == f && f.completeOnTimeout(1, 0, SECONDS) == f);
        });
        all.put(
                "timeout that is far",
                (f, log) -> log.accept(f.orTimeout(Long.MAX_VALUE, SECONDS)
                        .completeOnTimeout(VALUE, Long.MAX_VALUE, SECONDS)
                        .isDone()));
        all.put("nulls", (f, log) -> {
            log(log, () -> f.completeExceptionally(null));
            log(log, () -> f.obtrudeException(null));
            log(log, () -> f.completeAsync(null));
            log(log, () -> f.completeAsync(null, HERE));
            log(log, () -> f.completeAsync(() -> VALUE, null));
            log(log, () -> f.orTimeout(1, null));
            log(log, () -> f.completeOnTimeout(VALUE, 1, null));
            log(log, () -> f.thenApply(null));
            log(log, () -> f.thenComposeAsync(x -> f, null));
            log(log, () -> f.applyToEither(null, x -> x));
        });
        all.put("copy cancelled", (f, log) -> log.accept(f.copy().cancel(true) + " " + f.isDone()));
        all.put("minimal stage", (f, log) -> {
            var minimal = f.minimalCompletionStage();
            log.accept(minimal.toCompletableFuture().cancel(true) + " " + f.isDone());
            log(log, () -> minimal.toCompletableFuture().complete(VALUE));
            log(log, ((CompletableFuture<Object>) minimal)::isDone);
            f.complete(VALUE);
            log.accept(f.minimalCompletionStage().toCompletableFuture().join());
        });
        all.put("dependents", (f, log) -> {
            int before = f.getNumberOfDependents();
            f.thenRun(() -> {});
            f.copy();
            log.accept(f.getNumberOfDependents() - before);
            f.complete(VALUE);
            log.accept(f.getNumberOfDependents());
        });
        return all;
    }

    private static Object awaited(CompletableFuture<Object> future) throws InterruptedException {
        try {
            return future.get(120, SECONDS);
        } catch (ExecutionException e) {
            return typeOf(e.getCause());
        } catch (TimeoutException e) {
            return "not in time";
        }
    }

    /** The complete observable state of the future after the operation. */
    private static List<Object> seen(CompletableFuture<Object> future, Deed deed) throws Exception {
        List<Object> log = new ArrayList<>();
        List<Object> before = new ArrayList<>();
        var unused = future.handle((value, e) -> before.add(describe(value, e)));
        deed.to(future, log::add);
        log.add(before);
        var now = future.handle(FuturesAsCompletableFutureTest::describe);
        log.add(now.isDone() ? now.join() : "open");
        log.add(future.isDone() + " " + future.isCancelled() + " " + future.isCompletedExceptionally());
        for (Consumer<CompletableFuture<Object>> read : List.<Consumer<CompletableFuture<Object>>>of(
                f -> log.add(f.getNow("none")), f -> log.add(f.isDone() ? f.join() : ""), f -> {
                    try {
                        log.add(f.isDone() ? f.get() : "");
                    } catch (InterruptedException | ExecutionException e) {
                        log.add(describe(null, e));
                    }
                })) {
            try {
                read.accept(future);
            } catch (RuntimeException e) {
                log.add(describe(null, e));
            }
        }
        // The text says more than that of a plain one, see FutureTextTest; it is there in every state.
        assertFalse(future.toString().isEmpty());
        return log;
    }

    /** Only the types of failures, because their messages differ. */
    private static Object describe(Object value, Throwable e) {
        StringBuilder text = new StringBuilder(String.valueOf(value));
        for (Throwable next = e; next != null; next = next.getCause())
            text.append(' ').append(typeOf(next));
        return text.toString();
    }

    static Stream<Arguments> ours() {
        Stream<Arguments> waits = WaitKind.requests()
                .map(kind -> ours(kind, () -> kind.create().plain.get()));
        return Stream.concat(waits, Arrays.stream(Ours.values()).map(way -> ours(way, way.make)));
    }

    private static Arguments ours(Enum<?> name, Supplier<CompletableFuture<?>> make) {
        return Arguments.of(name, make);
    }

    @ParameterizedTest(name = "{0}")
    @MethodSource("ours")
    @SuppressWarnings("unchecked") // no code depends on the type of the value
    void future_ofOurs_behavesAsAPlainOne(Enum<?> name, Supplier<CompletableFuture<Object>> make) throws Exception {
        Map<String, Object> plain = new LinkedHashMap<>();
        Map<String, Object> ours = new LinkedHashMap<>();
        for (Map.Entry<String, Deed> deed : deeds().entrySet()) {
            plain.put(deed.getKey(), seen(new CompletableFuture<>(), deed.getValue()));
            ours.put(deed.getKey(), seen(make.get(), deed.getValue()));
        }
        StringBuilder differences = new StringBuilder();
        plain.forEach((deed, seen) -> {
            if (!seen.equals(ours.get(deed))) {
                differences.append("\n" + deed + "\n  plain " + seen + "\n  ours  " + ours.get(deed));
            }
        });
        assertEquals("", differences.toString());
    }
}
