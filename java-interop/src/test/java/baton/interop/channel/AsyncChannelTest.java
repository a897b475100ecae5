package baton.interop.channel;

import static baton.interop.Futures.awaitFailure;
import static baton.interop.Futures.failure;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import baton.Priority;
import baton.channels.ChannelClosedException;
import baton.channels.ChannelOrder;
import baton.channels.OnFull;
import baton.interop.AsyncChannel;
import baton.interop.Futures;
import baton.interop.Reservation;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeoutException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.function.Executable;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class AsyncChannelTest {
    private static final Duration LONG = Duration.ofDays(1);

    private final AsyncChannel<String> meeting = AsyncChannel.create(0);
    private final AsyncChannel<String> channel = AsyncChannel.create(2, ChannelOrder.FIFO, OnFull.SUSPEND, "orders");

    private static List<String> drain(AsyncChannel<String> channel) {
        List<String> found = new ArrayList<>();
        while (channel.tryReceive(found::add)) continue;
        return found;
    }

    // ---- shape

    @Test
    void of_wrapsThatVeryChannel() {
        AsyncChannel<String> same = AsyncChannel.of(channel.kotlin());
        assertSame(channel.kotlin(), same.kotlin());
        same.send("a").join();
        assertEquals(1, channel.size());
        assertEquals("AsyncChannel 'orders' (size = 1, capacity = 2, waiting = 0)", channel.toString());
    }

    @Test
    void orderAndOnFull_areWhatItWasCreatedWith() {
        assertEquals(ChannelOrder.FIFO, channel.order());
        assertEquals(OnFull.SUSPEND, channel.onFull());
        AsyncChannel<Integer> urgent = AsyncChannel.create(1, ChannelOrder.PRIORITY, OnFull.DROP_LATEST, null);
        assertEquals(ChannelOrder.PRIORITY, urgent.order());
        assertEquals(OnFull.DROP_LATEST, urgent.onFull());
    }

    @ParameterizedTest
    @ValueSource(ints = {Integer.MIN_VALUE, -1})
    void capacity_belowZero_isRefused(int capacity) {
        for (Executable call : List.<Executable>of(
                () -> AsyncChannel.create(capacity),
                () -> AsyncChannel.create(capacity, ChannelOrder.PRIORITY, OnFull.DROP_LATEST, null),
                () -> AsyncChannel.create(capacity, ChannelOrder.FIFO, OnFull.SUSPEND, null, x -> {}),
                () -> channel.resize(capacity))) {
            String message = assertThrows(IllegalArgumentException.class, call).getMessage();
            assertEquals("capacity = " + capacity + ", must be at least 0", message);
        }
        assertEquals(2, channel.capacity());
    }

    @ParameterizedTest
    @ValueSource(ints = {0, 1, Integer.MAX_VALUE})
    void capacity_atTheEdges_isTaken(int capacity) {
        AsyncChannel<String> edge = AsyncChannel.create(capacity);
        assertEquals(capacity, edge.capacity());
        assertEquals(capacity > 0, edge.trySend("a"));
        channel.resize(capacity);
        assertEquals(capacity, channel.capacity());
    }

    @ParameterizedTest
    @ValueSource(longs = {Long.MIN_VALUE, -1, 0})
    void timeout_zeroOrNegative_isNowOrNotAtAll(long seconds) {
        Duration timeout = Duration.ofSeconds(seconds);
        assertInstanceOf(TimeoutException.class, failure(channel.receive(timeout)));
        assertNull(channel.send("a", timeout).join());
        assertEquals("a", channel.receive(timeout).join());
        Reservation<String> place = channel.reserve(timeout).join();
        channel.send("b", Priority.LOW, timeout).join();
        assertInstanceOf(TimeoutException.class, failure(channel.send("c", timeout)));
        assertInstanceOf(TimeoutException.class, failure(channel.send("c", Priority.LOW, timeout)));
        Throwable none = failure(channel.reserve(timeout));
        assertInstanceOf(TimeoutException.class, none);
        assertEquals(
                "no place within " + timeout + ": Channel 'orders' (size = 1, capacity = 2, waiting = 0)",
                none.getMessage());
        place.send("c");
        assertEquals(List.of("b", "c"), drain(channel));
    }

    @Test
    void timeout_huge_waits() {
        Duration huge = Duration.ofSeconds(Long.MAX_VALUE);
        CompletableFuture<String> received = meeting.receive(huge);
        assertTrue(meeting.trySend("a"));
        assertEquals("a", received.join());
        CompletableFuture<Void> sent = meeting.send("b", huge);
        assertEquals(Optional.of("b"), meeting.tryReceive());
        assertTrue(sent.isDone());
    }

    @Test
    void timeouts_over_failAndWithdraw() {
        channel.trySend("a");
        channel.trySend("b");
        Duration little = Duration.ofMillis(5);
        Throwable unsent = awaitFailure(channel.send("c", little));
        assertInstanceOf(TimeoutException.class, unsent);
        assertEquals(
                "not sent within PT0.005S: Channel 'orders' (size = 2, capacity = 2, waiting = 0)",
                unsent.getMessage());
        assertInstanceOf(TimeoutException.class, awaitFailure(channel.reserve(little)));
        assertInstanceOf(TimeoutException.class, awaitFailure(meeting.receive(little)));
        assertEquals(0, channel.waiting() + meeting.waiting());
        assertEquals(List.of("a", "b"), drain(channel));
    }

    @Test
    void nulls_asArguments_areRefused() {
        for (Executable call : List.<Executable>of(
                () -> AsyncChannel.of(null),
                () -> AsyncChannel.create(1, null, OnFull.SUSPEND, null),
                () -> AsyncChannel.create(1, ChannelOrder.FIFO, null, null),
                () -> AsyncChannel.create(1, ChannelOrder.FIFO, OnFull.SUSPEND, null, null),
                () -> channel.send("a", (Priority) null),
                () -> channel.send("a", (Duration) null),
                () -> channel.send("a", null, LONG),
                () -> channel.send("a", (java.util.concurrent.Executor) null),
                () -> channel.trySend("a", null),
                () -> channel.receive((Duration) null),
                () -> channel.receive((java.util.concurrent.Executor) null),
                () -> channel.reserve((Priority) null),
                () -> channel.reserve((Duration) null),
                () -> channel.tryReceive(null),
                () -> channel.forEach(null),
                () -> channel.forEach(x -> {}, null),
                () -> channel.forEachAsync(null),
                () -> channel.publisher(null),
                () -> channel.publisher().subscribe(null),
                () -> channel.close(null),
                () -> channel.cancel(null))) {
            assertThrows(NullPointerException.class, call);
        }
        assertEquals(0, channel.size() + channel.waiting());
        assertFalse(channel.isClosed());
    }

    // ---- nulls as elements

    @Test
    void elements_thatAreNull_areSentAndReceived() {
        assertNull(channel.send(null).join());
        assertNull(channel.receive().join());
        CompletableFuture<String> waits = channel.receive();
        channel.trySend(null);
        assertTrue(waits.isDone());
        assertNull(waits.join());
        channel.trySend(null);
        List<String> found = drain(channel);
        assertEquals(1, found.size());
        assertNull(found.get(0));
    }

    @Test
    void tryReceive_nextIsNull_throwsAndLeavesIt() {
        channel.send(null);
        channel.send("b");
        assertThrows(NullPointerException.class, channel::tryReceive);
        assertEquals(2, channel.size());
        assertNull(channel.receive().join());
        assertEquals(Optional.of("b"), channel.tryReceive());
        CompletableFuture<Void> brought = meeting.send(null);
        assertThrows(NullPointerException.class, meeting::tryReceive);
        assertTrue(brought.isDone());
        assertEquals(1, meeting.size());
        assertNull(meeting.receive().join());
    }

    // ---- waiting requests

    @Test
    void send_withoutRoom_waitsAndIsTakenInOrder() {
        CompletableFuture<Void> first = meeting.send("a");
        CompletableFuture<Void> second = meeting.send("b");
        assertEquals(2, meeting.waiting());
        assertEquals("a", meeting.receive().join());
        assertTrue(first.isDone());
        assertFalse(second.isDone());
        assertEquals("b", meeting.receive().join());
    }

    @Test
    void send_withPriority_isReceivedByLevel() {
        AsyncChannel<String> levels = AsyncChannel.create(1, ChannelOrder.PRIORITY, OnFull.SUSPEND, null);
        levels.send("low", Priority.LOW);
        levels.send("normal");
        levels.send("high", Priority.HIGH);
        levels.send("critical", Priority.CRITICAL, LONG);
        assertFalse(levels.trySend("no", Priority.CRITICAL));
        assertEquals(List.of("low", "critical", "high", "normal"), drain(levels));
    }

    @Test
    void dropped_elements_goToTheConsumer() {
        List<String> dropped = new ArrayList<>();
        AsyncChannel<String> latest = AsyncChannel.create(1, ChannelOrder.FIFO, OnFull.DROP_OLDEST, null, dropped::add);
        latest.send("a").join();
        latest.send("b").join();
        assertEquals(List.of("a"), dropped);
        latest.cancel();
        assertEquals(List.of("a", "b"), dropped);
    }

    @Test
    void executor_completesAFutureThatHadToWait_theSendingThreadIfItRejects() {
        Futures.Steps steps = new Futures.Steps();
        CompletableFuture<String> received = meeting.receive(steps);
        CompletableFuture<String> rejected = meeting.receive(Futures.REJECTING);
        assertTrue(meeting.trySend("a") && meeting.trySend("b"));
        assertFalse(received.isDone());
        assertEquals("b", rejected.join());
        steps.runAll();
        assertEquals("a", received.join());
        CompletableFuture<Void> sent = meeting.send("c", steps);
        assertEquals("c", meeting.receive().join());
        assertFalse(sent.isDone());
        steps.runAll();
        assertTrue(sent.isDone());
    }

    // ---- closing

    @Test
    void close_failsSendersAndLetsReceiversDrain() {
        channel.trySend("a");
        channel.trySend("b");
        CompletableFuture<Void> sent = channel.send("c");
        CompletableFuture<Reservation<String>> place = channel.reserve();
        assertTrue(channel.close(new IllegalStateException("why")));
        assertFalse(channel.close());
        assertEquals("why", failure(sent).getCause().getMessage());
        assertInstanceOf(ChannelClosedException.class, failure(place));
        assertInstanceOf(ChannelClosedException.class, failure(channel.send("d")));
        assertInstanceOf(ChannelClosedException.class, failure(channel.reserve(Duration.ZERO)));
        assertThrows(ChannelClosedException.class, () -> channel.trySend("d"));
        assertThrows(ChannelClosedException.class, () -> channel.resize(3));
        assertEquals("a", channel.receive().join());
        assertEquals(Optional.of("b"), channel.tryReceive());
        assertInstanceOf(ChannelClosedException.class, failure(channel.receive(LONG)));
        assertThrows(ChannelClosedException.class, channel::tryReceive);
        assertThrows(ChannelClosedException.class, () -> channel.tryReceive(x -> {}));
        assertTrue(channel.isClosed());
    }

    @Test
    void close_failsReceiversThatWait() {
        CompletableFuture<String> received = meeting.receive();
        meeting.close();
        assertInstanceOf(ChannelClosedException.class, failure(received));
        assertNull(failure(received).getCause());
    }

    @Test
    void tryReceive_ofAConsumerThatThrows_countsAsReceived() {
        channel.trySend("a");
        assertThrows(
                ArithmeticException.class,
                () -> channel.tryReceive(x -> {
                    throw new ArithmeticException();
                }));
        assertEquals(0, channel.size());
        assertTrue(channel.trySend("b"));
    }
}
