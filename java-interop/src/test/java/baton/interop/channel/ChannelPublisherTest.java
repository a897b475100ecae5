package baton.interop.channel;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import baton.interop.AsyncChannel;
import baton.interop.Futures;
import baton.interop.Recorder;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;
import java.util.function.Predicate;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The publisher of a channel by the rules of Reactive Streams, whose numbers end the names of the tests. */
class ChannelPublisherTest {
    private final AsyncChannel<Integer> channel = AsyncChannel.create(100);

    private Recorder<Integer> subscribe() {
        return subscribe(new Recorder<>());
    }

    private <S extends Recorder<Integer>> S subscribe(S recorder) {
        channel.publisher().subscribe(recorder);
        return recorder;
    }

    private void send(int... elements) {
        for (int element : elements) channel.send(element).join();
    }

    @Test
    void elements_areTakenOutOnlyOnDemand_1_1() {
        send(1, 2, 3);
        Recorder<Integer> recorder = subscribe();
        assertEquals(List.of("subscribed"), recorder.signals);
        assertEquals(3, channel.size());
        recorder.subscription.request(2);
        assertEquals(List.of("subscribed", 1, 2), recorder.signals);
        assertEquals(1, channel.size());
        recorder.subscription.request(2);
        assertEquals(1, channel.waiting());
        send(4, 5);
        assertEquals(List.of("subscribed", 1, 2, 3, 4), recorder.signals);
        assertEquals(1, channel.size());
    }

    @ParameterizedTest
    @ValueSource(ints = {0, 1, 3})
    void end_ofTheChannel_isSignalledWithOrWithoutDemandOnce_1_4_1_5(int more) {
        IllegalStateException why = new IllegalStateException("why");
        Map<Consumer<AsyncChannel<Integer>>, Predicate<Object>> ends = Map.of(
                AsyncChannel::close,
                "completed"::equals,
                ended -> ended.close(why),
                why::equals,
                AsyncChannel::cancel,
                "completed"::equals,
                cancelled -> cancelled.cancel(why),
                why::equals);
        ends.forEach((end, isSignal) -> {
            AsyncChannel<Integer> ended = AsyncChannel.create(1);
            Recorder<Integer> recorder = new Recorder<>();
            ended.publisher().subscribe(recorder);
            recorder.subscription.request(2 + more);
            for (int i = 0; i < 2; i++) ended.send(i).join();
            end.accept(ended);
            recorder.subscription.request(1);
            recorder.subscription.request(-1);
            assertEquals(List.of("subscribed", 0, 1), recorder.signals.subList(0, 3));
            assertTrue(isSignal.test(recorder.last()) && recorder.signals.size() == 4, recorder.signals::toString);
        });
    }

    @Test
    void close_whileElementsAreLeft_isSignalledWhenTheLastIsTakenByAnotherReceiver_1_5() {
        send(1, 2);
        Recorder<Integer> recorder = subscribe();
        Recorder<Integer> other = subscribe();
        channel.close();
        recorder.subscription.request(1);
        assertEquals(List.of("subscribed", 1), recorder.signals);
        assertEquals(2, channel.tryReceive().orElseThrow());
        assertEquals(List.of("subscribed", 1, "completed"), recorder.signals);
        assertEquals(List.of("subscribed", "completed"), other.signals);
    }

    @Test
    void cancel_whenNothingIsRequested_isTheEnd_1_8() {
        Recorder<Integer> recorder = subscribe();
        assertEquals(0, channel.waiting());
        recorder.subscription.cancel();
        channel.close();
        assertEquals(List.of("subscribed"), recorder.signals);
    }

    @ParameterizedTest
    @ValueSource(longs = {Long.MIN_VALUE, -1, 0})
    void request_belowOne_isAnErrorAndTheLastSignal_3_9(long n) {
        Recorder<Integer> recorder = subscribe();
        recorder.subscription.request(1);
        recorder.subscription.request(n);
        Throwable why = assertInstanceOf(IllegalArgumentException.class, recorder.last());
        assertEquals("request of n = " + n + ", must be at least 1 (Reactive Streams, rule 3.9)", why.getMessage());
        assertEquals(0, channel.waiting());
        send(1);
        recorder.subscription.request(1);
        assertEquals(2, recorder.signals.size());
        assertEquals(1, channel.size());
    }

    @Test
    void subscribe_toADrainedChannel_completesAtOnce() {
        channel.close();
        assertEquals(List.of("subscribed", "completed"), subscribe().signals);
    }

    @Test
    void cancel_endsTheSignalsAndTheWait_3_5() {
        Recorder<Integer> recorder = subscribe();
        recorder.subscription.request(5);
        send(1);
        recorder.subscription.cancel();
        recorder.subscription.cancel();
        recorder.subscription.request(1);
        recorder.subscription.request(0);
        assertEquals(0, channel.waiting());
        send(2);
        channel.close();
        assertEquals(List.of("subscribed", 1), recorder.signals);
        assertEquals(1, channel.size());
    }

    @Test
    void cancel_fromWithinOnNext_isTheLastSignal() {
        send(1, 2);
        Recorder<Integer> recorder = subscribe(new Recorder<Integer>() {
            @Override
            public void onNext(Integer element) {
                super.onNext(element);
                subscription.cancel();
            }
        });
        recorder.subscription.request(5);
        assertEquals(List.of("subscribed", 1), recorder.signals);
        assertEquals(1, channel.size());
    }

    @Test
    void cancel_beforeTheExecutorRuns_givesTheElementBack() {
        Futures.Steps steps = new Futures.Steps();
        Recorder<Integer> recorder = new Recorder<>();
        channel.publisher(steps).subscribe(recorder);
        recorder.subscription.request(1);
        steps.runAll();
        send(1);
        assertEquals(0, channel.size());
        recorder.subscription.cancel();
        assertEquals(1, channel.size());
        steps.runAll();
        assertEquals(List.of("subscribed"), recorder.signals);
        assertEquals(1, channel.receive().join());
    }

    @Test
    void onNext_thatThrows_isReportedAndEndsTheSubscription_2_13() {
        List<Throwable> reported = Futures.reportedBy(() -> {
            Recorder<Integer> recorder = subscribe(new Recorder<Integer>() {
                @Override
                public void onNext(Integer element) {
                    super.onNext(element);
                    throw new ArithmeticException();
                }
            });
            recorder.subscription.request(5);
            send(1, 2);
            assertEquals(List.of("subscribed", 1), recorder.signals);
        });
        assertEquals(1, reported.size());
        assertInstanceOf(ArithmeticException.class, reported.get(0));
        assertEquals(1, channel.size());
    }

    @Test
    void elementThatIsNull_isAnErrorAndStays_2_13() {
        channel.send(null);
        Recorder<Integer> recorder = subscribe();
        recorder.subscription.request(1);
        assertInstanceOf(NullPointerException.class, recorder.last());
        assertEquals(1, channel.size());
        assertNull(channel.receive().join());
    }

    @Test
    void subscribers_shareTheElements_1_11() {
        Recorder<Integer> one = subscribe();
        Recorder<Integer> two = subscribe();
        one.subscription.request(10);
        two.subscription.request(2);
        send(1, 2, 3, 4, 5, 6);
        List<Object> all = new ArrayList<>(one.signals);
        all.addAll(two.signals);
        all.removeIf("subscribed"::equals);
        assertEquals(List.of(1, 2, 3, 4, 5, 6), all.stream().sorted().toList());
        assertEquals(3, two.signals.size());
    }
}
