package baton.interop.channel;

import static baton.interop.Futures.failure;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import baton.Priority;
import baton.channels.ChannelClosedException;
import baton.channels.ChannelOrder;
import baton.channels.OnFull;
import baton.interop.AsyncChannel;
import baton.interop.Reservation;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;

/** Reserved places of an {@link AsyncChannel}. */
class ReservationTest {
    private static final Duration LONG = Duration.ofDays(1);

    private final AsyncChannel<String> meeting = AsyncChannel.create(0);
    private final AsyncChannel<String> channel = AsyncChannel.create(2, ChannelOrder.FIFO, OnFull.SUSPEND, "orders");

    private static List<String> drain(AsyncChannel<String> channel) {
        List<String> found = new ArrayList<>();
        while (channel.tryReceive(found::add)) continue;
        return found;
    }

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
        assertTrue(channel.close());
        CompletableFuture<String> received = channel.receive();
        assertFalse(received.isDone());
        place.send("a");
        assertEquals("a", received.join());
        assertInstanceOf(ChannelClosedException.class, failure(channel.receive()));
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
    void reserve_withCapacityZero_fails() {
        Throwable why = failure(meeting.reserve());
        assertInstanceOf(IllegalStateException.class, why);
        assertEquals(
                "reserve with capacity = 0, must be at least 1: Channel (size = 0, capacity = 0, waiting = 0)",
                why.getMessage());
    }
}
