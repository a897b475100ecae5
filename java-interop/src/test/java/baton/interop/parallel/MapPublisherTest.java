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
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Flow;
import java.util.concurrent.atomic.AtomicReference;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** A source that the test drives by hand. */
class MapPublisherTest extends StagesByHand {
    private long requested;
    private boolean sourceCancelled;
    private int sent;
    private Flow.Subscriber<? super Integer> out;

    private final Flow.Publisher<Integer> source = subscriber -> {
        out = subscriber;
        subscriber.onSubscribe(new Flow.Subscription() {
            @Override
            public void request(long n) {
                requested += n;
            }

            @Override
            public void cancel() {
                sourceCancelled = true;
            }
        });
    };

    private Recorder<String> map(int limit) {
        return subscribe(new Recorder<>(), Tasks.mapLimit(source, limit, this::stage));
    }

    private static <T> Recorder<T> subscribe(Recorder<T> recorder, Flow.Publisher<T> publisher) {
        publisher.subscribe(recorder);
        return recorder;
    }

    private void send(int count) {
        for (int i = 0; i < count; i++) out.onNext(sent++);
    }

    @Test
    void elements_areRequestedWhenThereIsDemandAndAPlace_andComeInOrder() {
        Recorder<String> recorder = map(2);
        assertEquals(0, requested);
        recorder.subscription.request(1);
        assertEquals(2, requested);
        send(2);
        complete(1, 1);
        assertEquals(List.of(), recorder.results());
        assertEquals(2, requested);
        complete(0, 0);
        assertEquals(List.of("0"), recorder.results());
        assertEquals(3, requested);
        send(1);
        complete(2, 2);
        assertEquals(3, requested);
        recorder.subscription.request(5);
        assertEquals(List.of("0", "1", "2"), recorder.results());
        assertEquals(5, requested);
    }

    @Test
    void end_ofTheSource_isSignalledAfterWhatRuns_withoutDemand() {
        Recorder<String> recorder = map(2);
        recorder.subscription.request(2);
        send(2);
        out.onComplete();
        complete(0, 0);
        assertEquals(List.of("0"), recorder.results());
        complete(1, 1);
        assertEquals(List.of("0", "1", "completed"), recorder.results());
        assertFalse(sourceCancelled);
    }

    @Test
    void emptySource_completesWithoutDemand() {
        Recorder<String> recorder = map(2);
        out.onComplete();
        assertEquals(List.of("completed"), recorder.results());
    }

    @Test
    void failingSource_isTheFirstFailure_afterWhatRuns() {
        Recorder<String> recorder = map(3);
        recorder.subscription.request(9);
        send(2);
        IOException disk = new IOException("disk");
        IOException late = new IOException("late");
        out.onError(disk);
        assertEquals(List.of(), recorder.results());
        complete(0, 0);
        stages.get(1).completeExceptionally(late);
        assertEquals(List.of("0", disk), recorder.results());
        assertEquals(List.of(late), List.of(disk.getSuppressed()));
        assertFalse(sourceCancelled);
    }

    @Test
    void failingStage_cancelsTheSource_andDropsWhatItStillSignals() {
        Recorder<String> recorder = map(2);
        recorder.subscription.request(9);
        send(1);
        IOException disk = new IOException("disk");
        stages.get(0).completeExceptionally(disk);
        assertTrue(sourceCancelled);
        assertEquals(List.of(disk), recorder.results());
        send(1);
        out.onComplete();
        assertEquals(1, stages.size());
        assertEquals(List.of(disk), recorder.results());
    }

    @Test
    void subscribeOfTheSourceThatThrows_isTheFailure() {
        IllegalStateException thrown = new IllegalStateException();
        Flow.Publisher<Integer> broken = subscriber -> {
            throw thrown;
        };
        assertSame(
                thrown,
                subscribe(new Recorder<>(), Tasks.mapLimit(broken, 1, this::stage))
                        .last());
    }

    @Test
    void stageOfNull_isAFailure() {
        Recorder<String> recorder = map(1);
        recorder.subscription.request(1);
        send(1);
        stages.get(0).complete(null);
        assertEquals(
                "the stage has the value null, which a publisher cannot signal",
                assertInstanceOf(NullPointerException.class, recorder.last()).getMessage());
    }

    @Test
    void cancel_cancelsWhatRunsAndTheSource_andNoSignalFollows() {
        Recorder<String> recorder = map(2);
        recorder.subscription.request(9);
        send(2);
        recorder.subscription.cancel();
        assertTrue(sourceCancelled);
        assertTrue(stages.stream().allMatch(CompletableFuture::isCancelled));
        out.onComplete();
        assertEquals(List.of(), recorder.results());
    }

    @Test
    void cancel_beforeTheSourceHasSubscribed_cancelsIt() {
        AtomicReference<Flow.Subscriber<? super Integer>> late = new AtomicReference<>();
        Flow.Publisher<Integer> slow = late::set;
        Recorder<String> recorder = subscribe(new Recorder<>(), Tasks.mapLimit(slow, 1, this::stage));
        recorder.subscription.request(1);
        recorder.subscription.cancel();
        source.subscribe(late.get());
        assertTrue(sourceCancelled);
    }

    @Test
    void cancel_fromWithinOnNext_isTheLastSignal() {
        Recorder<Integer> recorder = subscribe(
                new Recorder<>() {
                    @Override
                    public void onNext(Integer element) {
                        super.onNext(element);
                        subscription.cancel();
                    }
                },
                Tasks.mapLimit(source, 3, CompletableFuture::completedFuture));
        recorder.subscription.request(9);
        send(3);
        assertEquals(List.of(0), recorder.results());
        assertTrue(sourceCancelled);
    }

    @ParameterizedTest
    @ValueSource(longs = {Long.MIN_VALUE, -1, 0})
    void request_belowOne_isAnErrorAndTheLastSignal_3_9(long n) {
        Recorder<String> recorder = map(2);
        recorder.subscription.request(n);
        Throwable why = assertInstanceOf(IllegalArgumentException.class, recorder.last());
        assertEquals("request of n = " + n + ", must be at least 1 (Reactive Streams, rule 3.9)", why.getMessage());
        assertTrue(sourceCancelled);
        assertEquals(0, requested);
    }

    @Test
    void onNext_thatThrows_isReportedAndEndsTheSubscription_2_13() {
        List<Throwable> reported = Futures.reportedBy(() -> {
            Recorder<Integer> recorder = subscribe(
                    new Recorder<>() {
                        @Override
                        public void onNext(Integer element) {
                            super.onNext(element);
                            throw new ArithmeticException();
                        }
                    },
                    Tasks.mapLimit(source, 2, CompletableFuture::completedFuture));
            recorder.subscription.request(5);
            send(2);
            assertEquals(List.of(0), recorder.results());
        });
        assertEquals(1, reported.size());
        assertInstanceOf(ArithmeticException.class, reported.get(0));
        assertTrue(sourceCancelled);
    }

    /** The places are free while a result is signalled, so a subscriber that blocks holds up nothing else. */
    @Test
    void result_thatIsSignalled_hasNoPlace() {
        List<Long> seen = new ArrayList<>();
        Recorder<Integer> recorder = subscribe(
                new Recorder<>() {
                    @Override
                    public void onNext(Integer element) {
                        super.onNext(element);
                        seen.add(requested);
                    }
                },
                Tasks.mapLimit(source, 2, CompletableFuture::completedFuture));
        recorder.subscription.request(9);
        send(2);
        assertEquals(List.of(3L, 4L), seen);
    }

    @Test
    void completedStages_needNoStack() {
        int count = 200_000;
        Flow.Publisher<List<Integer>> numbers =
                Tasks.processInChunks(elements(count), 1, 2, CompletableFuture::completedFuture);
        Flow.Publisher<Integer> mapped =
                Tasks.mapLimit(numbers, 3, chunk -> CompletableFuture.completedFuture(chunk.get(0)));
        Recorder<Integer> recorder = subscribe(new Recorder<>(), mapped);
        recorder.subscription.request(Long.MAX_VALUE);
        assertEquals(
                IntStream.range(0, count).boxed().toList(), recorder.results().subList(0, count));
        assertEquals("completed", recorder.last());
    }

    @Test
    void nulls_areRefused() {
        Flow.Publisher<String> mapped = Tasks.mapLimit(source, 1, this::stage);
        assertThrows(NullPointerException.class, () -> mapped.subscribe(null));
        Recorder<String> recorder = subscribe(new Recorder<>(), mapped);
        for (Runnable call :
                List.<Runnable>of(() -> out.onNext(null), () -> out.onError(null), () -> out.onSubscribe(null))) {
            assertThrows(NullPointerException.class, call::run);
        }
        assertEquals(List.of(), recorder.results());
    }

    @ParameterizedTest
    @ValueSource(ints = {Integer.MIN_VALUE, -1, 0})
    void limit_below1_isRefusedAtTheCall(int limit) {
        var refusal = assertThrows(IllegalArgumentException.class, () -> Tasks.mapLimit(source, limit, this::stage));
        assertEquals("limit = " + limit + ", must be at least 1", refusal.getMessage());
    }
}
