package baton.interop.channel;

import static baton.interop.Futures.failure;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import baton.Priority;
import baton.channels.ChannelClosedException;
import baton.channels.ChannelOrder;
import baton.channels.OnFull;
import baton.interop.AsyncChannel;
import baton.interop.BlockingChannel;
import baton.interop.Reservation;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeoutException;
import org.junit.jupiter.api.Test;

class AsyncChannelTest {
    private static final Duration LONG = Duration.ofDays(1);

    private final AsyncChannel<String> meeting = AsyncChannel.create(0);
    private final AsyncChannel<String> channel = AsyncChannel.create(2, ChannelOrder.FIFO, OnFull.SUSPEND, "orders");

    private static List<String> drain(AsyncChannel<String> channel) {
        List<String> found = new ArrayList<>();
        while (channel.tryReceive(found::add)) continue;
        return found;
    }

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

    @Test
    void send_withPriority_isReceivedByLevel() {
        AsyncChannel<String> levels = AsyncChannel.create(1, ChannelOrder.PRIORITY, OnFull.SUSPEND);
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
        AsyncChannel<String> latest = AsyncChannel.create(1, ChannelOrder.FIFO, OnFull.DROP_OLDEST, dropped::add);
        latest.send("a").join();
        latest.send("b").join();
        assertEquals(List.of("a"), dropped);
        latest.cancel();
        assertEquals(List.of("a", "b"), dropped);
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

    // ---- reserved places

    @Test
    void place_isUsedOnceOrGivenBack() {
        Reservation<String> place = channel.reserve().join();
        Reservation<String> other = channel.reserve(Priority.HIGH).join();
        assertFalse(channel.trySend("no"));
        CompletableFuture<Reservation<String>> third = channel.reserve(LONG);
        assertEquals("held: place in Channel 'orders' (size = 0, capacity = 2, waiting = 1)", place.toString());
        place.send("a");
        assertFalse(place.isHeld());
        place.close();
        assertThrows(IllegalStateException.class, () -> place.send("b"));
        assertThrows(IllegalStateException.class, () -> place.send("b", Priority.LOW));
        assertThrows(NullPointerException.class, () -> other.send("b", null));
        assertTrue(other.isHeld());
        other.close();
        other.close();
        third.join().send("c", Priority.LOW);
        assertEquals(List.of("a", "c"), drain(channel));
        assertTrue(channel.trySend("d") && channel.trySend("e"));
        assertFalse(channel.trySend("f"));
    }

    @Test
    void place_madeBeforeClose_mayStillBeUsed() {
        Reservation<String> place = channel.reserve().join();
        channel.close();
        CompletableFuture<String> received = channel.receive();
        assertFalse(received.isDone());
        place.send("a");
        assertEquals("a", received.join());
        assertInstanceOf(ChannelClosedException.class, failure(channel.receive()));
    }

    @Test
    void blockingView_closesAndCancelsTheChannel() throws Exception {
        BlockingChannel<String> view = channel.blocking();
        view.send("a");
        view.close();
        assertTrue(channel.isClosedForSend());
        assertFalse(view.close(new IllegalStateException("late")));
        assertThrows(ChannelClosedException.class, () -> view.send("b"));
        assertEquals("a", view.receive());
        assertThrows(ChannelClosedException.class, view::receive);
        BlockingChannel<String> other = AsyncChannel.<String>create(4).blocking();
        other.send("dropped");
        other.cancel(new IllegalStateException("why"));
        Throwable cancelled = assertThrows(ChannelClosedException.class, other::receive);
        assertEquals("why", cancelled.getCause().getMessage());
        assertTrue(other.toString().startsWith("BlockingChannel"), other::toString);
    }

    @Test
    void place_afterCancel_takesNothingAndIsSpent() {
        Reservation<String> place = channel.reserve().join();
        channel.cancel(new IllegalStateException("why"));
        Throwable closed = assertThrows(ChannelClosedException.class, () -> place.send("a"));
        assertEquals("why", closed.getCause().getMessage());
        assertFalse(place.isHeld());
        place.close();
        assertEquals(0, channel.size());
    }

    @Test
    void tryReserve_givesAPlaceOfTheLevelOrNone() {
        AsyncChannel<String> levels = AsyncChannel.create(2, ChannelOrder.PRIORITY, OnFull.SUSPEND);
        Reservation<String> low = levels.tryReserve(Priority.LOW).orElseThrow();
        Reservation<String> normal = levels.tryReserve().orElseThrow();
        assertTrue(levels.tryReserve().isEmpty());
        assertTrue(levels.blocking().tryReserve(Priority.HIGH).isEmpty());
        assertInstanceOf(TimeoutException.class, failure(levels.reserve(Priority.HIGH, Duration.ZERO)));
        assertThrows(TimeoutException.class, () -> levels.blocking().reserve(Priority.HIGH, Duration.ZERO));
        CompletableFuture<Reservation<String>> high = levels.reserve(Priority.HIGH, LONG);
        low.send("low");
        normal.close();
        high.join().send("high");
        assertEquals(List.of("high", "low"), drain(levels));
        assertTrue(levels.blocking().tryReserve().isPresent());
        levels.close();
        assertThrows(ChannelClosedException.class, levels::tryReserve);
        AsyncChannel<String> rendezvous = AsyncChannel.create(0);
        Throwable refused = assertThrows(IllegalStateException.class, rendezvous::tryReserve);
        assertEquals("reserve with capacity = 0, must be at least 1: " + rendezvous.kotlin(), refused.getMessage());
    }

    // ---- conflated, end

    @Test
    void conflated_keepsTheLatestElement() {
        AsyncChannel<String> latest = AsyncChannel.conflated("state");
        assertTrue(latest.trySend("a") && latest.trySend("b"));
        assertEquals("AsyncChannel 'state' (size = 1, capacity = 1, waiting = 0)", latest.toString());
        assertEquals(List.of("b"), drain(latest));
        assertEquals(OnFull.DROP_OLDEST, AsyncChannel.conflated().onFull());
    }

    @Test
    void invokeOnClose_beforeAndAfterTheClose_getsTheCauseOnce() {
        List<String> calls = new ArrayList<>();
        Exception why = new Exception("why");
        channel.invokeOnClose(cause -> calls.add("first " + cause));
        Runnable removal = channel.invokeOnClose(cause -> calls.add("removed"));
        removal.run();
        assertEquals(List.of(), calls);
        channel.close(why);
        channel.close();
        assertEquals(List.of("first " + why), calls);
        channel.invokeOnClose(cause -> calls.add("late " + cause));
        assertEquals(List.of("first " + why, "late " + why), calls);
        AsyncChannel<String> other = AsyncChannel.create(1);
        other.invokeOnClose(cause -> calls.add("no cause: " + cause));
        other.cancel();
        assertEquals("no cause: null", calls.get(2));
    }
}
