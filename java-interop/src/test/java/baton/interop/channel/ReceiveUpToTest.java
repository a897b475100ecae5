package baton.interop.channel;

import static baton.interop.Futures.await;
import static baton.interop.Futures.failure;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import baton.channels.ChannelClosedException;
import baton.interop.AsyncChannel;
import baton.interop.BlockingChannel;
import baton.interop.Reservation;
import baton.interop.blocking.BlockedCall;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Several elements at once, in futures and threads; the contract of channels has the rest. */
@Timeout(300)
class ReceiveUpToTest {
    private static AsyncChannel<String> channelOf(String... elements) {
        AsyncChannel<String> channel = AsyncChannel.create(9);
        for (String element : elements) assertTrue(channel.trySend(element));
        return channel;
    }

    @Test
    void future_thatWaits_hasWhatIsThereWhenItsElementComes() {
        AsyncChannel<String> channel = channelOf();
        CompletableFuture<List<String>> batch = channel.receiveUpTo(3);
        List<CompletableFuture<Void>> sends = new ArrayList<>();
        channel.resize(0);
        for (String element : List.of("a", "b", "c", "d")) sends.add(channel.send(element));
        assertEquals(List.of("a"), batch.join());
        assertEquals(List.of("b", "c"), channel.receiveUpTo(2).join());
        assertEquals(1, channel.waiting());
        assertEquals(List.of("d"), channel.receiveUpTo(Integer.MAX_VALUE).join());
        for (CompletableFuture<Void> send : sends) assertTrue(send.isDone());
    }

    /** The channel's lock decides which elements the future has; a thread that completes it too late has the same. */
    @Test
    void future_grantedWhileASenderHoldsUpItsCompletion_completesOnceWithAllOfThem() {
        AsyncChannel<String> channel = AsyncChannel.create(0);
        CompletableFuture<List<String>> batch = channel.receiveUpTo(5);
        CompletableFuture<Boolean> cancelled = new CompletableFuture<>();
        CompletableFuture<Void> first = channel.send("a");
        var unused = first.thenRun(() -> cancelled.complete(batch.cancel(false)));
        assertFalse(cancelled.join());
        assertEquals(List.of("a"), batch.join());
        assertEquals(0, channel.size());
    }

    @Test
    void future_endedFromOutside_leavesTheElements() {
        for (int i = 0; i < 3; i++) {
            AsyncChannel<String> channel = channelOf();
            CompletableFuture<List<String>> batch = channel.receiveUpTo(3);
            switch (i) {
                case 0 -> assertTrue(batch.cancel(false));
                case 1 -> assertTrue(batch.complete(List.of("other")));
                default ->
                    assertThrows(
                            Exception.class,
                            () -> batch.orTimeout(1, TimeUnit.MILLISECONDS).get(2, TimeUnit.MINUTES));
            }
            assertEquals(0, channel.waiting());
            assertTrue(channel.trySend("a"));
            assertEquals(Optional.of("a"), channel.tryReceive());
        }
    }

    @Test
    void elements_thatAreNull_areReceived() throws Exception {
        AsyncChannel<String> channel = AsyncChannel.create(9);
        for (int i = 0; i < 2; i++) {
            assertTrue(channel.trySend(null));
            assertTrue(channel.trySend("a"));
            List<String> expected = Arrays.asList(null, "a");
            assertEquals(
                    expected,
                    i == 0 ? channel.receiveUpTo(9).join() : channel.blocking().receiveUpTo(9));
        }
    }

    @Test
    void end_inAnyWay_isEmptyOrItsCause() {
        AsyncChannel<String> closed = channelOf("a", "b");
        closed.close();
        assertEquals(List.of("a", "b"), closed.receiveUpTo(9).join());
        assertEquals(List.of(), closed.receiveUpTo(9).join());
        IllegalStateException cause = new IllegalStateException("why");
        AsyncChannel<String> failed = channelOf();
        CompletableFuture<List<String>> fails = failed.receiveUpTo(9);
        failed.close(cause);
        assertSame(cause, failure(fails));
        assertSame(cause, failure(failed.receiveUpTo(9)));
        AsyncChannel<String> cancelled = channelOf("a");
        cancelled.cancel(new CancellationException("odd"));
        CompletableFuture<List<String>> odd = cancelled.receiveUpTo(9);
        assertFalse(odd.isCancelled());
        assertTrue(failure(odd) instanceof ChannelClosedException);
        assertTrue(cancelled.isClosedForSend() && cancelled.isClosedForReceive());
        for (int limit : List.of(Integer.MIN_VALUE, 0)) {
            assertThrows(IllegalArgumentException.class, () -> closed.receiveUpTo(limit));
            assertThrows(IllegalArgumentException.class, () -> closed.blocking().receiveUpTo(limit));
        }
    }

    @Test
    void thread_thatWaits_hasWhatIsThereOrNothingWhenInterrupted() throws Exception {
        AsyncChannel<String> channel = channelOf();
        BlockingChannel<String> blocking = channel.blocking();
        BlockedCall<List<String>> batch = BlockedCall.parked(() -> blocking.receiveUpTo(3));
        blocking.send("a");
        assertEquals(List.of("a"), batch.result());
        for (String element : List.of("b", "c", "d")) blocking.send(element);
        assertEquals(List.of("b", "c"), blocking.receiveUpTo(2));
        Thread.currentThread().interrupt();
        assertThrows(InterruptedException.class, () -> blocking.receiveUpTo(2));
        assertEquals(1, channel.size());
        assertEquals(List.of("d"), blocking.receiveUpTo(2));
        BlockedCall<List<String>> ends = BlockedCall.parked(() -> blocking.receiveUpTo(3));
        channel.close();
        assertEquals(List.of(), ends.result());
        assertEquals(List.of(), blocking.receiveUpTo(1));
        AsyncChannel<String> failed = channelOf();
        IllegalStateException cause = new IllegalStateException("why");
        failed.close(cause);
        ChannelClosedException end = assertThrows(
                ChannelClosedException.class, () -> failed.blocking().receiveUpTo(1));
        assertSame(cause, end.getCause());
    }

    @Test
    void remainingCapacity_countsPlacesThatAreFree() {
        AsyncChannel<String> channel = channelOf("a", "b");
        assertEquals(7, channel.remainingCapacity());
        Reservation<String> place = await(channel.reserve());
        assertEquals(6, channel.remainingCapacity());
        place.close();
        assertEquals(7, channel.remainingCapacity());
        assertFalse(channel.isClosedForSend() || channel.isClosedForReceive());
    }
}
