package baton.interop.channel;

import static baton.interop.Futures.await;
import static baton.interop.Futures.failure;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertTrue;

import baton.channels.ChannelOrder;
import baton.channels.OnFull;
import baton.interop.AsyncChannel;
import baton.interop.Futures;
import baton.interop.Reservation;
import java.util.Optional;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Requests to an {@link AsyncChannel} that are ended from outside. */
class ChannelWithdrawalTest {
    private final AsyncChannel<String> meeting = AsyncChannel.create(0);
    private final AsyncChannel<String> channel = AsyncChannel.create(2, ChannelOrder.FIFO, OnFull.SUSPEND, "orders");

    static Stream<Consumer<CompletableFuture<?>>> enders() {
        return Stream.of(
                future -> future.cancel(true),
                future -> future.complete(null),
                future -> future.completeExceptionally(new IllegalStateException("outside")),
                future -> future.orTimeout(1, TimeUnit.NANOSECONDS),
                future -> future.completeOnTimeout(null, 1, TimeUnit.NANOSECONDS),
                future -> future.completeAsync(() -> null, Runnable::run),
                future -> future.obtrudeValue(null),
                future -> future.obtrudeException(new IllegalStateException("outside")));
    }

    @ParameterizedTest
    @MethodSource("enders")
    void requests_endedFromOutside_areWithdrawn(Consumer<CompletableFuture<?>> end) {
        CompletableFuture<String> received = meeting.receive();
        end.accept(received);
        awaitFailureOrNull(received);
        assertFalse(meeting.trySend("a"));
        CompletableFuture<Void> sent = meeting.send("b");
        end.accept(sent);
        awaitFailureOrNull(sent);
        assertEquals(Optional.empty(), meeting.tryReceive());
        channel.resize(1);
        channel.send("a");
        CompletableFuture<Reservation<String>> place = channel.reserve();
        end.accept(place);
        awaitFailureOrNull(place);
        assertEquals(0, meeting.waiting() + channel.waiting());
        assertEquals("a", channel.receive().join());
        assertTrue(channel.trySend("c"));
    }

    private static void awaitFailureOrNull(CompletableFuture<?> future) {
        await(future.handle((value, e) -> e));
    }

    /** The element was taken, but the future is not completed, because the executor has not run yet. */
    @ParameterizedTest
    @MethodSource("enders")
    void send_takenAndThenEndedFromOutside_completesNormallyFirst(Consumer<CompletableFuture<?>> end) {
        CompletableFuture<Void> sent = meeting.send("a", new Futures.Steps());
        CompletableFuture<String> seen = sent.handle((value, e) -> e == null ? "sent" : "failed");
        assertEquals("a", meeting.receive().join());
        assertFalse(sent.isDone());
        end.accept(sent);
        assertEquals("sent", await(seen));
    }

    @ParameterizedTest
    @MethodSource("enders")
    void receive_grantedAndThenEndedFromOutside_completesWithTheElementFirst(Consumer<CompletableFuture<?>> end) {
        CompletableFuture<String> received = meeting.receive(new Futures.Steps());
        CompletableFuture<String> seen = received.handle((value, e) -> value);
        assertTrue(meeting.trySend("a"));
        end.accept(received);
        assertEquals("a", await(seen));
    }

    @Test
    void cancel_ofAReceiver_letsTheNextOneHaveTheElement() {
        CompletableFuture<String> first = meeting.receive();
        CompletableFuture<String> second = meeting.receive();
        CompletableFuture<String> derived = second.thenApply(x -> x);
        assertTrue(first.cancel(false));
        derived.cancel(false);
        assertTrue(meeting.trySend("a"));
        assertEquals("a", second.join());
        assertInstanceOf(CancellationException.class, failure(first));
    }
}
