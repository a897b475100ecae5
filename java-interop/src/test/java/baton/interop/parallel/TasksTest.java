package baton.interop.parallel;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import baton.interop.Futures;
import baton.interop.Tasks;
import baton.parallel.Outcome;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.Iterator;
import java.util.List;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ForkJoinPool;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Function;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Parallel maps whose stages the test completes by hand, in numbered steps. */
class TasksTest extends StagesByHand {
    private static Throwable failure(CompletableFuture<?> future) {
        return assertThrows(CompletionException.class, future::join).getCause();
    }

    @Test
    void mapLimit_pullsWhenAPlaceIsFree_answersInInputOrder() {
        CompletableFuture<List<String>> all = Tasks.mapLimit(elements(5), 2, this::stage);
        assertEquals(2, stages.size());
        stages.get(1).complete("b");
        assertEquals(3, stages.size());
        stages.get(2).complete("c");
        stages.get(3).complete("d");
        assertEquals(5, stages.size());
        stages.get(4).complete("e");
        assertFalse(all.isDone());
        assertEquals("mapLimit (limit = 2, in flight = 1)", all.toString());
        stages.get(0).complete("a");
        assertEquals(List.of("a", "b", "c", "d", "e"), all.join());
        assertEquals("mapLimit (limit = 2), done", all.toString());
    }

    @Test
    void mapLimit_ofNothing_isDone() {
        assertEquals(
                List.of(), Tasks.mapLimit(List.<Integer>of(), 1, this::stage).join());
    }

    @Test
    void mapLimit_nullElementsAndNullResults_areKept() {
        List<Object> items = Arrays.asList("a", null);
        Function<Object, CompletionStage<Object>> same = CompletableFuture::completedFuture;
        assertEquals(items, Tasks.mapLimit(items, 1, same).join());
    }

    @Test
    void stageFails_nothingIsPulled_theOthersAreAwaited_andSuppressed() {
        CompletableFuture<List<String>> all = Tasks.mapLimit(elements(200_000), 3, this::stage);
        IOException first = new IOException("first");
        IOException second = new IOException("second");
        stages.get(1).completeExceptionally(new CompletionException(first));
        stages.get(0).completeExceptionally(second);
        assertFalse(all.isDone());
        stages.get(2).complete("c");
        assertSame(first, failure(all));
        assertEquals(List.of(second), List.of(first.getSuppressed()));
        assertEquals(3, pulled);
    }

    @Test
    void functionThrows_isAFailure_andLeaksNoPlace() {
        IllegalStateException thrown = new IllegalStateException("at once");
        CompletableFuture<List<String>> all = Tasks.mapLimit(elements(9), 2, element -> {
            if (element == 1) throw thrown;
            return stage(element);
        });
        stages.get(0).complete("a");
        assertSame(thrown, failure(all));
    }

    @Test
    void functionReturnsNull_isAFailure() {
        CompletableFuture<List<String>> all = Tasks.mapLimit(elements(1), 1, element -> null);
        assertEquals(
                "the function returned null instead of a stage", failure(all).getMessage());
    }

    @Test
    void sourceFails_whatRunsIsAwaited() {
        IllegalStateException thrown = new IllegalStateException("source");
        Stream<Integer> source = elements(9).peek(element -> {
            if (element == 1) throw thrown;
        });
        CompletableFuture<List<String>> all = Tasks.mapLimit(source, 5, this::stage);
        assertFalse(all.isDone());
        stages.get(0).complete("a");
        assertSame(thrown, failure(all));
    }

    @Test
    void stream_isClosedAtTheEnd_alsoAfterACancel() {
        AtomicInteger closed = new AtomicInteger();
        CompletableFuture<List<String>> all =
                Tasks.mapLimit(elements(2).onClose(closed::incrementAndGet), 1, this::stage);
        assertEquals(0, closed.get());
        all.cancel(true);
        assertEquals(1, closed.get());
    }

    @Test
    void closeThatThrows_isTheFailure() {
        IllegalStateException thrown = new IllegalStateException("close");
        Stream<Integer> source = elements(0).onClose(() -> {
            throw thrown;
        });
        assertSame(thrown, failure(Tasks.mapLimit(source, 1, this::stage)));
    }

    @Test
    void cancel_cancelsWhatRuns_andPullsNothingMore() {
        CompletableFuture<List<String>> all = Tasks.mapLimit(elements(9), 2, this::stage);
        stages.get(0).complete("a");
        assertTrue(all.cancel(true));
        assertTrue(stages.get(1).isCancelled());
        assertTrue(stages.get(2).isCancelled());
        assertEquals(3, pulled);
        assertEquals(
                "mapLimit was cancelled",
                assertInstanceOf(CancellationException.class, Futures.failure(all))
                        .getMessage());
    }

    @Test
    void completedFromOutside_cancelsWhatRuns() {
        CompletableFuture<List<String>> all = Tasks.mapLimit(elements(9), 2, this::stage);
        all.complete(List.of());
        assertTrue(stages.stream().allMatch(CompletableFuture::isCancelled));
        assertEquals(2, pulled);
        assertEquals(List.of(), all.join());
    }

    @Test
    void mapSettled_whileItCountsTheRest_isCancelled() {
        List<CompletableFuture<?>> self = new ArrayList<>();
        Iterable<Integer> endless = () -> Stream.iterate(0, element -> element + 1)
                .peek(element -> {
                    if (element == 100) self.get(0).cancel(true);
                })
                .iterator();
        self.add(Tasks.mapSettled(endless, 1, 1, this::stage));
        stages.get(0).completeExceptionally(new IOException());
        assertTrue(self.get(0).isCancelled());
    }

    @Test
    void complete_byASourceThatRuns_isNotReplacedByTheCancellation() {
        List<CompletableFuture<List<String>>> self = new ArrayList<>();
        Stream<Integer> source = elements(9).peek(element -> {
            if (element == 1) self.get(0).complete(List.of("mine"));
        });
        self.add(Tasks.mapLimit(source, 1, this::stage));
        stages.get(0).complete("a");
        assertEquals(List.of("mine"), self.get(0).join());
    }

    @Test
    void cancel_byTheFunction_startsNothingMore() {
        List<CompletableFuture<?>> self = new ArrayList<>();
        CompletableFuture<String> first = new CompletableFuture<>();
        self.add(Tasks.mapLimit(elements(9), 1, element -> {
            if (element == 0) return first;
            self.get(0).cancel(true);
            return stage(0);
        }));
        first.complete("a");
        assertTrue(self.get(0).isCancelled());
        assertTrue(stages.get(0).isCancelled());
        assertEquals(2, pulled);
    }

    @Test
    void mapSettled_hasAnOutcomeForEachElement() {
        CompletableFuture<List<Outcome<String>>> all = Tasks.mapSettled(List.of(0, 1, 2), 3, this::stage);
        IOException why = new IOException();
        stages.get(2).complete("c");
        stages.get(1).cancel(true);
        stages.get(0).completeExceptionally(why);
        List<Outcome<String>> outcomes = all.join();
        assertEquals(new Outcome.Failure(why), outcomes.get(0));
        assertInstanceOf(Outcome.Cancelled.class, outcomes.get(1));
        if (outcomes.get(2) instanceof Outcome.Success<String> success) assertEquals("c", success.getValue());
        else throw new AssertionError(outcomes.get(2));
    }

    @Test
    void mapSettled_afterItsFailures_startsNothing() {
        CompletableFuture<List<Outcome<String>>> all =
                Tasks.mapSettled(elements(6).collect(Collectors.toList()), 2, 2, this::stage);
        IOException why = new IOException();
        stages.get(0).completeExceptionally(why);
        stages.get(1).completeExceptionally(why);
        stages.get(2).complete("c");
        Object failed = new Outcome.Failure(why);
        Object not = Outcome.NotStarted.INSTANCE;
        assertEquals(List.of(failed, failed, new Outcome.Success<>("c"), not, not, not), all.join());
    }

    @Test
    void forEachLimit_endsWithoutAValue() {
        CompletableFuture<Void> all = Tasks.forEachLimit(List.of(0), 1, this::stage);
        stages.get(0).complete("a");
        assertEquals(null, all.join());
    }

    /** An Error while elements were pulled once left the map waiting for ever. */
    @Test
    void error_ofTheSourceOrTheFunction_endsTheMap() {
        OutOfMemoryError error = new OutOfMemoryError("test");
        Stream<Integer> source = elements(3).peek(element -> {
            if (element == 1) throw error;
        });
        CompletableFuture<List<Integer>> all = Tasks.mapLimit(source, 2, CompletableFuture::completedFuture);
        assertSame(error, failure(all));
        assertSame(error, failure(Tasks.mapLimit(elements(3), 2, element -> {
            throw error;
        })));
    }

    @Test
    void hasNextThatThrowsAnErrorOnce_endsTheMap() {
        StackOverflowError error = new StackOverflowError();
        Iterable<Integer> items = () -> new Iterator<>() {
            private int calls;

            @Override
            public boolean hasNext() {
                if (++calls == 2) throw error;
                return true;
            }

            @Override
            public Integer next() {
                return calls;
            }
        };
        CompletableFuture<List<String>> all = Tasks.mapLimit(items, 1, element -> stage(0));
        complete(0, 0);
        assertSame(error, failure(all));
    }

    @Test
    void completedStages_needNoStack() {
        int count = 200_000;
        List<Integer> all = Tasks.mapLimit(elements(count), 2, CompletableFuture::completedFuture)
                .join();
        assertEquals(count, all.size());
    }

    @Test
    void stagesCompletedByThreads_keepTheLimit_andLoseNothing() throws Exception {
        AtomicInteger inFlight = new AtomicInteger();
        AtomicBoolean tooMany = new AtomicBoolean();
        int count = 20_000;
        List<Integer> all = Tasks.mapLimit(elements(count), 4, element -> {
                    if (inFlight.incrementAndGet() > 4) tooMany.set(true);
                    return CompletableFuture.supplyAsync(
                            () -> {
                                inFlight.decrementAndGet();
                                return element;
                            },
                            ForkJoinPool.commonPool());
                })
                .get(120, TimeUnit.SECONDS);
        assertEquals(IntStream.range(0, count).boxed().toList(), all);
        assertFalse(tooMany.get());
    }

    @ParameterizedTest
    @ValueSource(ints = {Integer.MIN_VALUE, -1, 0})
    void limitAndMaxFailures_below1_areRefusedBeforeAnythingIsPulled(int number) {
        Iterable<Integer> items = () -> elements(1).iterator();
        for (Runnable call : List.<Runnable>of(
                () -> Tasks.mapLimit(items, number, this::stage),
                () -> Tasks.mapLimit(elements(1), number, this::stage),
                () -> Tasks.mapSettled(items, number, this::stage),
                () -> Tasks.forEachLimit(items, number, this::stage))) {
            var refusal = assertThrows(IllegalArgumentException.class, call::run);
            assertEquals("limit = " + number + ", must be at least 1", refusal.getMessage());
        }
        var refusal =
                assertThrows(IllegalArgumentException.class, () -> Tasks.mapSettled(items, 1, number, this::stage));
        assertEquals("maxFailures = " + number + ", must be at least 1", refusal.getMessage());
        assertEquals(0, pulled);
    }

    @Test
    void limit_ofMaxValue_takesAll() {
        assertEquals(
                Collections.nCopies(3, "x"),
                Tasks.mapLimit(elements(3), Integer.MAX_VALUE, element -> CompletableFuture.completedFuture("x"))
                        .join());
    }
}
