package baton.interop;

import static baton.interop.Futures.awaitFailure;
import static baton.interop.Futures.failure;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import baton.sync.Latch;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Consumer;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.function.Executable;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

class AsyncLatchTest {
    private final AsyncLatch latch = AsyncLatch.create(1, "start");

    @Test
    void toString_saysNameAndState() {
        assertEquals("AsyncLatch 'start' (count = 1, waiting = 0)", latch.toString());
        latch.countDown();
        assertEquals("AsyncLatch 'start' (open)", latch.toString());
        assertEquals("AsyncLatch (count = 3, waiting = 0)", AsyncLatch.create(3).toString());
    }

    @Test
    void of_aKotlinLatch_sharesItsState() {
        Latch kotlin = new Latch(2, null);
        AsyncLatch face = AsyncLatch.of(kotlin);
        assertSame(kotlin, face.kotlin());
        CompletableFuture<Void> waits = face.await();
        kotlin.countDown();
        assertFalse(waits.isDone());
        face.countDown();
        assertNull(waits.join());
    }

    @Test
    void create_negativeCount_isRefused() {
        for (int count : new int[] {Integer.MIN_VALUE, -1}) {
            var e = assertThrows(IllegalArgumentException.class, () -> AsyncLatch.create(count));
            assertTrue(e.getMessage().contains("count = " + count), e.getMessage());
            assertThrows(IllegalArgumentException.class, () -> AsyncLatch.create(count, "start"));
        }
        assertTrue(AsyncLatch.create(0).await().isDone());
    }

    @Test
    void countDown_whenOpen_doesNothing() {
        for (int i = 0; i < 3; i++) latch.countDown();
        assertEquals(0, latch.count());
        assertTrue(latch.await().isDone());
    }

    static Stream<Consumer<CompletableFuture<Void>>> endings() {
        return Stream.of(
                future -> future.cancel(false),
                future -> future.complete(null),
                future -> future.completeExceptionally(new IllegalStateException("outside")),
                future -> future.obtrudeValue(null));
    }

    @ParameterizedTest
    @MethodSource("endings")
    void await_endedFromOutside_leavesTheQueueBeforeThatIsSeen(Consumer<CompletableFuture<Void>> end) {
        CompletableFuture<Void> before = latch.await();
        CompletableFuture<Void> ended = latch.await();
        CompletableFuture<Void> behind = latch.await();
        CompletableFuture<Integer> seen = ended.handle((value, e) -> latch.waiting());
        end.accept(ended);
        assertEquals(2, seen.join());
        assertEquals(1, latch.count());
        latch.countDown();
        assertTrue(before.isDone() && behind.isDone());
    }

    @Test
    void await_orTimeout_leavesTheQueue() {
        CompletableFuture<Void> late = latch.await().orTimeout(1, TimeUnit.MILLISECONDS);
        assertInstanceOf(TimeoutException.class, awaitFailure(late));
        assertEquals(0, latch.waiting());
    }

    @Test
    void await_withTimeoutZero_isNowOrNotAtAll() {
        var e = assertInstanceOf(TimeoutException.class, failure(latch.await(Duration.ZERO)));
        assertEquals("not open within PT0S: Latch 'start' (count = 1, waiting = 0)", e.getMessage());
        latch.countDown();
        assertTrue(latch.await(Duration.ZERO).isDone());
    }

    @ParameterizedTest
    @ValueSource(longs = {1, 999_999, 20_000_000})
    void await_afterTheTimeout_failsAndLeaves(long nanos) {
        assertInstanceOf(TimeoutException.class, awaitFailure(latch.await(Duration.ofNanos(nanos))));
        assertEquals(0, latch.waiting());
        assertEquals(1, latch.count());
    }

    @Test
    void await_withTheLongestTimeout_waitsAndIsGranted() {
        CompletableFuture<Void> patient = latch.await(Duration.ofSeconds(Long.MAX_VALUE));
        assertEquals(1, latch.waiting());
        latch.countDown();
        assertNull(patient.join());
    }

    @Test
    void await_withNegativeTimeout_isNowOrNotAtAll() {
        for (Duration timeout : List.of(Duration.ofNanos(-1), Duration.ofSeconds(Long.MIN_VALUE))) {
            assertInstanceOf(TimeoutException.class, failure(latch.await(timeout)));
            assertNull(AsyncLatch.create(0).await(timeout).join());
        }
        assertEquals(0, latch.waiting());
    }

    @Test
    void await_withAnExecutor_isCompletedThere() {
        Futures.Steps steps = new Futures.Steps();
        CompletableFuture<Void> there = latch.await(steps);
        CompletableFuture<Void> rejected = latch.await(Futures.REJECTING);
        latch.countDown();
        assertFalse(there.isDone());
        assertTrue(rejected.isDone());
        steps.runAll();
        assertTrue(there.isDone());
        assertTrue(latch.await(steps).isDone());
    }

    static Stream<Arguments> nulls() {
        AsyncLatch latch = AsyncLatch.create(1);
        AsyncWaitGroup group = AsyncWaitGroup.create();
        return Stream.of(
                call("latch", () -> AsyncLatch.of(null)),
                call("executor", () -> latch.await((Executor) null)),
                call("timeout", () -> latch.await((Duration) null)),
                call("group", () -> AsyncWaitGroup.of(null)),
                call("executor", () -> group.await((Executor) null)),
                call("timeout", () -> group.await((Duration) null)));
    }

    private static Arguments call(String argument, Executable call) {
        return Arguments.of(argument, call);
    }

    @ParameterizedTest
    @MethodSource("nulls")
    void null_asAnArgument_isRefusedByName(String argument, Executable call) {
        assertEquals(argument, assertThrows(NullPointerException.class, call).getMessage());
    }

    @Test
    void countDown_callbackThrows_othersAreGranted() {
        CompletableFuture<Void> failing = latch.await().thenRun(() -> {
            throw new IllegalStateException("in the callback");
        });
        CompletableFuture<Void> behind = latch.await();
        latch.countDown();
        assertTrue(behind.isDone());
        assertTrue(failing.isCompletedExceptionally());
    }
}
