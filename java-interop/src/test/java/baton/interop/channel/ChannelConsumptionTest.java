package baton.interop.channel;

import static baton.interop.Futures.await;
import static baton.interop.Futures.failure;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertTrue;

import baton.channels.ChannelClosedException;
import baton.interop.AsyncChannel;
import baton.interop.Futures;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.function.BiConsumer;
import java.util.function.Consumer;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** All overloads of {@code forEach}. */
class ChannelConsumptionTest {
    private final AsyncChannel<String> channel = AsyncChannel.create(3);
    private final List<String> seen = new ArrayList<>();

    private interface Form {
        CompletableFuture<Void> apply(AsyncChannel<String> channel, Consumer<String> action);
    }

    static Stream<Form> forms() {
        return Stream.of(
                AsyncChannel::forEach,
                (channel, action) -> channel.forEach(action, Runnable::run),
                (channel, action) -> channel.forEach(action, Futures.REJECTING),
                (channel, action) -> channel.forEachAsync(x -> {
                    action.accept(x);
                    return CompletableFuture.completedFuture(x);
                }),
                (channel, action) -> channel.forEachAsync(
                        x -> {
                            action.accept(x);
                            return CompletableFuture.completedStage(x);
                        },
                        Runnable::run));
    }

    @ParameterizedTest
    @MethodSource("forms")
    void forEach_takesWhatIsInsideAndWhatComes_untilClosed(Form forEach) {
        channel.send("a");
        channel.send(null);
        CompletableFuture<Void> ended = forEach.apply(channel, seen::add);
        assertEquals(Arrays.asList("a", null), seen);
        assertEquals(1, channel.waiting());
        channel.send("b").join();
        assertEquals(Arrays.asList("a", null, "b"), seen);
        assertFalse(ended.isDone());
        channel.close();
        assertNull(ended.join());
    }

    @ParameterizedTest
    @MethodSource("forms")
    void forEach_ofAClosedChannel_drainsItAndEndsAsThatWas(Form forEach) {
        Throwable cause = new ArithmeticException();
        channel.send("a");
        channel.close(cause);
        assertSame(cause, failure(forEach.apply(channel, seen::add)));
        assertEquals(List.of("a"), seen);
        AsyncChannel<String> cancelled = AsyncChannel.create(0);
        CompletableFuture<Void> ended = forEach.apply(cancelled, seen::add);
        cancelled.cancel(cause);
        assertSame(cause, failure(ended));
    }

    /** As the cause itself it would look as if the future had been cancelled. */
    @ParameterizedTest
    @MethodSource("forms")
    void forEach_ofAChannelClosedWithACancellation_failsAndIsNotCancelled(Form forEach) {
        CancellationException cause = new CancellationException("stop");
        CompletableFuture<Void> ended = forEach.apply(channel, seen::add);
        channel.close(cause);
        assertInstanceOf(ChannelClosedException.class, failure(ended));
        assertSame(cause, failure(ended).getCause());
        assertFalse(ended.isCancelled());
    }

    @ParameterizedTest
    @MethodSource("forms")
    void forEach_ofACancelledChannel_endsNormally(Form forEach) {
        CompletableFuture<Void> ended = forEach.apply(channel, seen::add);
        channel.cancel();
        assertNull(ended.join());
        assertNull(forEach.apply(channel, seen::add).join());
        assertEquals(List.of(), seen);
    }

    @ParameterizedTest
    @MethodSource("forms")
    void forEach_actionThatThrows_endsItAndLeavesTheRest(Form forEach) {
        channel.send("a");
        channel.send("b");
        RuntimeException thrown = new ArithmeticException();
        CompletableFuture<Void> ended = forEach.apply(channel, x -> {
            throw thrown;
        });
        assertSame(thrown, failure(ended));
        assertEquals(1, channel.size());
        assertEquals("b", channel.receive().join());
    }

    @ParameterizedTest
    @MethodSource("forms")
    void forEach_cancelled_takesNothingMore(Form forEach) {
        CompletableFuture<Void> waits = forEach.apply(channel, seen::add);
        assertTrue(waits.cancel(false));
        assertEquals(0, channel.waiting());
        channel.send("a");
        assertEquals(List.of(), seen);
        List<CompletableFuture<Void>> self = new ArrayList<>();
        AsyncChannel<String> other = AsyncChannel.create(2);
        self.add(forEach.apply(other, x -> {
            seen.add(x);
            self.get(0).cancel(false);
        }));
        other.send("b");
        other.send("c");
        assertEquals(List.of("b"), seen);
        assertEquals(1, other.size());
    }

    @ParameterizedTest
    @MethodSource("forms")
    void forEach_actionThatSendsToTheSameChannel_staysSerialAndFlat(Form forEach) {
        int[] inside = {0};
        int[] count = {0};
        AsyncChannel<String> loop = AsyncChannel.create(1);
        CompletableFuture<Void> ended = forEach.apply(loop, x -> {
            assertEquals(0, inside[0]++);
            if (++count[0] == 30_000) loop.close();
            else loop.trySend(x);
            inside[0]--;
        });
        loop.send("x");
        await(ended);
        assertEquals(30_000, count[0]);
    }

    /** A callback of a chain of channels sends to the next one. */
    @ParameterizedTest
    @MethodSource("forms")
    void forEach_chainOfChannels_keepsTheStackFlat(Form forEach) {
        AsyncChannel<String> first = AsyncChannel.create(0);
        AsyncChannel<String> last = first;
        for (int i = 0; i < 10_000; i++) {
            AsyncChannel<String> next = AsyncChannel.create(0);
            forEach.apply(last, next::send);
            last = next;
        }
        CompletableFuture<String> arrived = last.receive();
        first.send("x");
        assertEquals("x", await(arrived));
    }

    @Test
    void forEachAsync_takesTheNextWhenTheStageIsDone() {
        List<CompletableFuture<Void>> stages = new ArrayList<>();
        CompletableFuture<Void> ended = channel.forEachAsync(x -> {
            stages.add(new CompletableFuture<>());
            return stages.get(stages.size() - 1);
        });
        channel.send("a");
        channel.send("b");
        assertEquals(1, stages.size());
        assertEquals(1, channel.size());
        stages.get(0).complete(null);
        assertEquals(2, stages.size());
        RuntimeException why = new ArithmeticException();
        stages.get(1).completeExceptionally(why);
        assertSame(why, failure(ended));
        channel.send("c");
        assertEquals(1, channel.size());
    }

    /** Its {@code whenComplete} calls back, once or twice, and may throw then. */
    private static final class BrokenStage extends CompletableFuture<String> {
        private final int calls;
        private final boolean isThrowing;

        BrokenStage(int calls, boolean isThrowing) {
            this.calls = calls;
            this.isThrowing = isThrowing;
        }

        @Override
        public CompletableFuture<String> whenComplete(BiConsumer<? super String, ? super Throwable> action) {
            for (int i = 0; i < calls; i++) action.accept("", null);
            if (isThrowing) throw new IllegalStateException("after " + calls);
            return this;
        }
    }

    @Test
    void forEachAsync_stageThatCallsBackAndThenThrows_endsOnceAndTheNextFollows() {
        for (BrokenStage broken :
                List.of(new BrokenStage(1, true), new BrokenStage(2, true), new BrokenStage(2, false))) {
            AsyncChannel<String> elements = AsyncChannel.create(3);
            for (String each : List.of("a", "b", "c")) elements.trySend(each);
            List<String> begun = new ArrayList<>();
            CompletableFuture<String> second = new CompletableFuture<>();
            CompletableFuture<Void> ended = elements.forEachAsync(x -> {
                begun.add(x);
                return x.equals("a") ? broken : second;
            });
            assertFalse(ended.isDone());
            assertEquals(List.of("a", "b"), begun);
            second.complete("");
            elements.close();
            await(ended);
            assertEquals(List.of("a", "b", "c"), begun);
        }
    }

    @Test
    void forEachAsync_stageThatOnlyThrows_fails() {
        channel.trySend("a");
        Throwable e = failure(channel.forEachAsync(x -> new BrokenStage(0, true)));
        assertEquals("after 0", e.getMessage());
        assertEquals(0, channel.waiting());
    }

    @Test
    void forEachAsync_cancelled_cancelsTheStage() {
        CompletableFuture<Void> stage = new CompletableFuture<>();
        CompletableFuture<Void> ended = channel.forEachAsync(x -> stage);
        channel.send("a");
        channel.send("b");
        assertTrue(ended.cancel(true));
        assertTrue(stage.isCancelled());
        assertEquals(1, channel.size());
    }

    @Test
    void forEachAsync_ofADrainedChannel_endsWhenTheStageOfTheLastElementDoes() {
        CompletableFuture<Void> stage = new CompletableFuture<>();
        channel.send("a");
        channel.close();
        CompletableFuture<Void> ended = channel.forEachAsync(x -> stage);
        assertFalse(ended.isDone());
        stage.complete(null);
        assertNull(ended.join());
    }

    @Test
    void forEachAsync_nullInsteadOfAStage_fails() {
        CompletableFuture<Void> ended = channel.forEachAsync(x -> null);
        channel.send("a");
        assertInstanceOf(NullPointerException.class, failure(ended));
    }

    @Test
    void forEach_onAnExecutor_runsThereAlone() {
        Futures.Steps steps = new Futures.Steps();
        CompletableFuture<Void> ended = channel.forEach(seen::add, steps);
        steps.runAll();
        channel.send("a").join();
        channel.send("b").join();
        assertEquals(List.of(), seen);
        steps.runAll();
        assertEquals(List.of("a", "b"), seen);
        channel.close();
        assertFalse(ended.isDone());
        steps.runAll();
        assertTrue(ended.isDone());
    }

    /** If the executor has not begun an element, another receiver gets it before the cancel can be observed. */
    @Test
    void forEach_cancelledBeforeItsExecutorRuns_givesTheElementBack() {
        Futures.Steps steps = new Futures.Steps();
        CompletableFuture<Void> ended = channel.forEach(seen::add, steps);
        steps.runAll();
        channel.send("a");
        assertEquals(0, channel.size());
        CompletableFuture<String> next = channel.receive();
        List<String> atCancel = new ArrayList<>();
        ended.whenComplete((value, e) -> atCancel.add(next.getNow("too late")));
        ended.cancel(false);
        assertEquals(List.of("a"), atCancel);
        steps.runAll();
        assertEquals(List.of(), seen);
    }

    /** The calling thread returns after one batch; another thread delivers the remaining elements. */
    @Test
    void forEach_ofAChannelThatNeverRunsDry_doesNotKeepTheCaller() {
        AsyncChannel<String> endless = AsyncChannel.create(1);
        endless.send("x");
        CompletableFuture<Void> ended = endless.forEach(x -> endless.trySend(x));
        ended.cancel(false);
        assertTrue(ended.isCancelled());
    }
}
