package baton.interop.parallel;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import baton.interop.Futures;
import baton.interop.Recorder;
import baton.interop.Tasks;
import baton.parallel.MemoryGate;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Flow;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Function;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class ChunkPublisherTest extends StagesByHand {
    private <T> Recorder<T> subscribe(Flow.Publisher<T> publisher) {
        Recorder<T> recorder = new Recorder<>();
        publisher.subscribe(recorder);
        return recorder;
    }

    private Recorder<List<String>> chunks(int count, int size, int limit) {
        return subscribe(Tasks.processInChunks(elements(count), size, limit, this::stage));
    }

    private static List<String> chunk(int from, int to) {
        return IntStream.rangeClosed(from, to).mapToObj(i -> "" + i).toList();
    }

    @Test
    void request_isWhatStartsThePulling() {
        Recorder<List<String>> recorder = chunks(9, 2, 3);
        assertEquals(0, pulled);
        recorder.subscription.request(1);
        assertEquals(3, stages.size());
    }

    @ParameterizedTest
    @CsvSource({"0, 3, 2", "1, 3, 2", "3, 3, 2", "7, 3, 2", "7, 1, 10", "7, 100, 1", "50, 2147483647, 2147483647"})
    void chunks_areInInputOrder_andTheLastIsShorter(int count, int size, int limit) {
        List<Object> expected = new ArrayList<>();
        List<Integer> all = IntStream.range(0, count).boxed().toList();
        for (int from = 0; from < count; from += Math.min(size, count - from))
            expected.add(all.subList(from, from + Math.min(size, count - from)));
        expected.add("completed");
        Recorder<List<Integer>> recorder =
                subscribe(Tasks.processInChunks(all, size, limit, CompletableFuture::completedFuture));
        recorder.subscription.request(Long.MAX_VALUE);
        assertEquals(expected, recorder.results());
    }

    @Test
    void lastChunk_isFollowedByTheEndWithoutDemand() {
        Recorder<List<String>> recorder = chunks(3, 2, 2);
        recorder.subscription.request(2);
        complete(0, 2);
        assertEquals(List.of(chunk(0, 1), chunk(2, 2), "completed"), recorder.results());
    }

    @Test
    void nullResults_arriveAsResults() {
        Function<Integer, CompletionStage<String>> none = element -> CompletableFuture.completedFuture(null);
        Recorder<List<String>> recorder = subscribe(Tasks.processInChunks(List.of(1), 2, 2, none));
        recorder.subscription.request(1);
        assertEquals("[null]", recorder.results().get(0).toString());
    }

    /** With a chunk of 5 at the subscriber, 3 others were mapped; with none, the next 5 and 3. */
    @Test
    void subscriber_slow_holdsNoMoreThanSizeAndLimit() {
        Recorder<List<Integer>> recorder =
                subscribe(Tasks.processInChunks(elements(100), 5, 3, CompletableFuture::completedFuture));
        for (int chunk = 1; chunk <= 20; chunk++) {
            recorder.subscription.request(1);
            assertEquals(chunk, recorder.results().size() - (chunk == 20 ? 1 : 0));
            assertEquals(Math.min(5 * chunk + 3, 100), pulled);
        }
    }

    @Test
    void chunkThatIsDelivered_countsUntilTheSignalReturns() {
        List<Integer> seen = new ArrayList<>();
        Recorder<List<Integer>> recorder = new Recorder<>() {
            @Override
            public void onNext(List<Integer> chunk) {
                super.onNext(chunk);
                seen.add(pulled);
            }
        };
        Flow.Publisher<List<Integer>> chunks =
                Tasks.processInChunks(elements(12), 4, 2, CompletableFuture::completedFuture);
        chunks.subscribe(recorder);
        recorder.subscription.request(Long.MAX_VALUE);
        assertEquals(List.of(6, 10, 12), seen);
    }

    @Test
    void straggler_leavesItsOtherPlacesToTheNextChunk() {
        Recorder<List<String>> recorder = chunks(9, 4, 2);
        recorder.subscription.request(9);
        for (int i = 1; i <= 5; i++) {
            assertEquals(i + 1, stages.size());
            complete(i, i);
        }
        assertEquals(6, stages.size());
        assertEquals(List.of(), recorder.results());
        complete(0, 0);
        assertEquals(List.of(chunk(0, 3)), recorder.results());
        assertEquals(8, stages.size());
    }

    @Test
    void failure_endsAfterWhatRuns_andAfterTheChunksThatAreComplete() {
        Recorder<List<String>> recorder = chunks(200_000, 2, 4);
        recorder.subscription.request(1);
        IOException disk = new IOException("disk");
        stages.get(2).completeExceptionally(disk);
        complete(0, 1);
        assertEquals(List.of(chunk(0, 1)), recorder.results());
        complete(3, 3);
        assertEquals(List.of(chunk(0, 1), disk), recorder.results());
        assertEquals(4, pulled);
    }

    @Test
    void failure_behindChunksThatAreNotRequested_waitsForThem() {
        Recorder<List<String>> recorder = chunks(9, 1, 3);
        recorder.subscription.request(1);
        IOException disk = new IOException("disk");
        complete(0, 1);
        stages.get(2).completeExceptionally(disk);
        complete(3, 3);
        assertEquals(List.of(chunk(0, 0)), recorder.results());
        recorder.subscription.request(1);
        assertEquals(List.of(chunk(0, 0), chunk(1, 1), disk), recorder.results());
    }

    @ParameterizedTest
    @ValueSource(strings = {"iterator", "hasNext", "next"})
    void sourceThatFails_isTheFailure(String where) {
        IllegalStateException thrown = new IllegalStateException(where);
        Iterable<Integer> items = () -> {
            if (where.equals("iterator")) throw thrown;
            return elements(9)
                    .peek(element -> {
                        if (element == 1) throw thrown;
                    })
                    .iterator();
        };
        Recorder<List<String>> recorder = subscribe(Tasks.processInChunks(items, 1, 1, this::stage));
        recorder.subscription.request(9);
        if (!stages.isEmpty()) complete(0, 0);
        assertSame(thrown, recorder.last());
    }

    @Test
    void stream_isClosedWhenItIsRead_alsoAfterACancelBeforeTheFirstRequest() {
        AtomicInteger closed = new AtomicInteger();
        Recorder<List<String>> recorder =
                subscribe(Tasks.processInChunks(elements(2).onClose(closed::incrementAndGet), 2, 1, this::stage));
        recorder.subscription.request(1);
        complete(0, 1);
        assertEquals("completed", recorder.last());
        assertEquals(1, closed.get());
        subscribe(Tasks.processInChunks(elements(2).onClose(closed::incrementAndGet), 2, 1, this::stage))
                .subscription
                .cancel();
        assertEquals(2, closed.get());
    }

    @Test
    void streamThatFailsToClose_isAFailure() {
        IllegalStateException thrown = new IllegalStateException("close");
        Recorder<List<String>> recorder = subscribe(Tasks.processInChunks(
                elements(1).onClose(() -> {
                    throw thrown;
                }),
                2,
                1,
                this::stage));
        recorder.subscription.request(1);
        complete(0, 0);
        assertSame(thrown, recorder.last());
    }

    @Test
    void secondSubscription_ofAnIterable_beginsAnew_ofAStream_fails() {
        Flow.Publisher<List<Integer>> twice =
                Tasks.processInChunks(List.of(1), 2, 1, CompletableFuture::completedFuture);
        Flow.Publisher<List<Integer>> once =
                Tasks.processInChunks(elements(1), 2, 1, CompletableFuture::completedFuture);
        for (int i = 0; i < 2; i++) {
            Recorder<List<Integer>> anew = subscribe(twice);
            anew.subscription.request(1);
            assertEquals(List.of(List.of(1), "completed"), anew.results());
            Recorder<List<Integer>> recorder = subscribe(once);
            recorder.subscription.request(1);
            if (i == 0) assertEquals(List.of(List.of(0), "completed"), recorder.results());
            else assertInstanceOf(IllegalStateException.class, recorder.last());
        }
    }

    @Test
    void cancel_cancelsWhatRunsAndTheSource_andNoSignalFollows() {
        Recorder<List<String>> recorder = chunks(9, 1, 2);
        recorder.subscription.request(9);
        complete(0, 0);
        recorder.subscription.cancel();
        recorder.subscription.cancel();
        assertTrue(stages.get(1).isCancelled());
        assertTrue(stages.get(2).isCancelled());
        recorder.subscription.request(1);
        recorder.subscription.request(0);
        assertEquals(List.of(chunk(0, 0)), recorder.results());
        assertEquals(3, pulled);
    }

    @ParameterizedTest
    @ValueSource(longs = {Long.MIN_VALUE, -1, 0})
    void request_belowOne_isAnErrorAndTheLastSignal_3_9(long n) {
        Recorder<List<String>> recorder = chunks(9, 1, 2);
        recorder.subscription.request(1);
        recorder.subscription.request(n);
        Throwable why = assertInstanceOf(IllegalArgumentException.class, recorder.last());
        assertEquals("request of n = " + n + ", must be at least 1 (Reactive Streams, rule 3.9)", why.getMessage());
        assertTrue(stages.get(0).isCancelled());
        recorder.subscription.request(1);
        assertEquals(1, recorder.results().size());
    }

    @Test
    void gateThatIsClosed_letsOneElementThroughAtATime() {
        AtomicLong used = new AtomicLong(900);
        MemoryGate gate = MemoryGate.create(0.8, 0.5, 1_000, Duration.ofHours(1), used::get);
        Recorder<List<String>> recorder = subscribe(Tasks.processInChunks(elements(20), 3, 3, gate, this::stage));
        recorder.subscription.request(9);
        for (int i = 0; i < 6; i++) {
            assertEquals(i + 1, stages.size());
            complete(i, i);
        }
        assertEquals(List.of(chunk(0, 2), chunk(3, 5)), recorder.results());
        used.set(100);
        complete(6, 6);
        assertEquals(10, stages.size());
    }

    @Test
    @Timeout(300)
    void gateThatOpens_whileNothingEnds_isNoticed() {
        AtomicLong used = new AtomicLong(900);
        MemoryGate gate = MemoryGate.create(0.8, 0.5, 1_000, Duration.ofMillis(1), used::get);
        CompletableFuture<Void> third = new CompletableFuture<>();
        Recorder<List<String>> recorder = subscribe(Tasks.processInChunks(List.of(0, 1, 2), 3, 3, gate, element -> {
            if (element == 2) third.complete(null);
            return new CompletableFuture<String>();
        }));
        recorder.subscription.request(1);
        assertFalse(third.isDone());
        used.set(100);
        Futures.await(third);
    }

    @Test
    void gateThatThrows_isTheFailure() {
        IllegalStateException thrown = new IllegalStateException("no number");
        MemoryGate gate = MemoryGate.create(0.8, 0.5, 1_000, Duration.ofMillis(1), () -> {
            throw thrown;
        });
        Recorder<List<String>> recorder = subscribe(Tasks.processInChunks(elements(3), 3, 3, gate, this::stage));
        recorder.subscription.request(1);
        assertSame(thrown, recorder.last());
    }

    @Test
    @Timeout(300)
    void awaitOpen_isDoneWhenTheGateIsOpen_andCancelEndsTheWait() {
        AtomicLong used = new AtomicLong(900);
        MemoryGate gate = MemoryGate.create(0.8, 0.5, 1_000, Duration.ofMillis(1), used::get);
        CompletableFuture<Void> waits = Tasks.awaitOpen(gate);
        CompletableFuture<Void> cancelled = Tasks.awaitOpen(gate);
        assertFalse(waits.isDone());
        assertTrue(cancelled.cancel(true));
        used.set(100);
        Futures.await(waits);
        assertTrue(Tasks.awaitOpen(MemoryGate.create()).isDone());
    }

    @Test
    void completedStages_needNoStack() {
        int count = 200_000;
        Recorder<List<Integer>> recorder =
                subscribe(Tasks.processInChunks(elements(count), 7, 3, CompletableFuture::completedFuture));
        recorder.subscription.request(Long.MAX_VALUE);
        assertEquals((count + 6) / 7 + 1, recorder.results().size());
        assertEquals("completed", recorder.last());
    }

    @ParameterizedTest
    @ValueSource(ints = {Integer.MIN_VALUE, -1, 0})
    void sizeAndLimit_below1_areRefusedAtTheCall(int number) {
        var size = assertThrows(
                IllegalArgumentException.class, () -> Tasks.processInChunks(elements(1), number, 1, this::stage));
        assertEquals("size = " + number + ", must be at least 1", size.getMessage());
        var limit = assertThrows(
                IllegalArgumentException.class, () -> Tasks.processInChunks(elements(1), 1, number, this::stage));
        assertEquals("limit = " + number + ", must be at least 1", limit.getMessage());
        assertEquals(0, pulled);
    }
}
