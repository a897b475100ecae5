package baton.interop.select;

import static baton.interop.Futures.await;
import static baton.interop.Futures.awaitFailure;
import static baton.interop.Futures.failure;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertTrue;

import baton.channels.ChannelClosedException;
import baton.channels.ChannelOrder;
import baton.channels.OnFull;
import baton.interop.AsyncBarrier;
import baton.interop.AsyncChannel;
import baton.interop.AsyncLatch;
import baton.interop.AsyncMutex;
import baton.interop.AsyncSemaphore;
import baton.interop.Futures;
import baton.interop.Permit;
import baton.interop.Select;
import baton.sync.BarrierBrokenException;
import baton.sync.BarrierCancellation;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.function.Function;
import org.junit.jupiter.api.Test;

/** The ways in which a select fails; a failed select holds nothing. */
class SelectFailuresTest {
    private final AsyncChannel<String> channel = AsyncChannel.create(0);
    private final AsyncChannel<String> other = AsyncChannel.create(0);
    private final AsyncSemaphore semaphore = AsyncSemaphore.create(1);
    private final AsyncMutex mutex = AsyncMutex.create();

    // ---- failures

    @Test
    void channel_closed_failsTheSelect() {
        Select<String> select = Select.<String>first()
                .onLock(mutex, permit -> "lock")
                .onReceive(channel, x -> x)
                .onSend(other, "x", () -> "sent");
        Permit holder = mutex.lock().join();
        CompletableFuture<String> waits = select.start();
        channel.close(new ArithmeticException());
        assertInstanceOf(ChannelClosedException.class, failure(waits));
        assertInstanceOf(ArithmeticException.class, failure(waits).getCause());
        assertEquals(0, mutex.waiting() + other.waiting());
        assertInstanceOf(ChannelClosedException.class, failure(select.start()));
        holder.close();
        try (Permit permit =
                (Permit) Select.first().onLock(mutex, p -> p).start().join()) {
            assertTrue(permit.isHeld());
        }
        other.close();
        assertInstanceOf(
                ChannelClosedException.class,
                failure(Select.<String>first().onSend(other, "x", () -> "sent").start()));
    }

    /** The channel is cancelled between the grant of the place and the send into it. */
    @Test
    void channel_cancelledWhenASendHasWon_failsTheSelectAndTakesNothing() {
        List<String> dropped = new ArrayList<>();
        AsyncChannel<String> doomed = AsyncChannel.create(1, ChannelOrder.FIFO, OnFull.SUSPEND, dropped::add);
        Futures.Steps steps = new Futures.Steps();
        CompletableFuture<String> winner =
                Select.<String>first().onSend(doomed, "x", () -> "sent").start(steps);
        doomed.cancel();
        steps.runAll();
        assertInstanceOf(ChannelClosedException.class, failure(winner));
        assertEquals(List.of(), dropped);
    }

    @Test
    void refusals_ofAllKinds_failTheSelect() {
        AsyncSemaphore closed = AsyncSemaphore.create(2);
        Select<Permit> two = Select.<Permit>first().onAcquire(closed, 2, p -> p);
        closed.resize(1);
        assertInstanceOf(IllegalArgumentException.class, failure(two.start()));
        closed.close();
        assertInstanceOf(IllegalStateException.class, failure(two.start()));
        Permit mine = mutex.ownedBy(this).lock().join();
        assertInstanceOf(
                IllegalStateException.class,
                failure(Select.<Permit>first()
                        .onLock(mutex.ownedBy(this), p -> p)
                        .start()));
        mine.close();
        AsyncBarrier broken = AsyncBarrier.create(2);
        broken.abort();
        assertInstanceOf(
                BarrierBrokenException.class,
                failure(Select.<Integer>first().onArrive(broken, i -> i).start()));
        Throwable why = new ArithmeticException();
        CompletableFuture<String> derived =
                CompletableFuture.<String>failedFuture(why).thenApply(x -> x);
        assertSame(why, failure(Select.<String>first().onFuture(derived, x -> x).start()));
    }

    @Test
    void function_thatThrows_failsTheSelectAndClosesItsPermit() {
        RuntimeException why = new ArithmeticException();
        Permit[] given = new Permit[1];
        CompletableFuture<String> failed = Select.<String>first()
                .onAcquire(semaphore, permit -> {
                    given[0] = permit;
                    throw why;
                })
                .start();
        assertSame(why, failure(failed));
        assertFalse(given[0].isHeld());
        assertEquals(1, semaphore.availablePermits());
    }

    @Test
    void function_whoseFutureWasEndedWhileItRan_leavesNoPermitBehind() {
        List<CompletableFuture<Permit>> self = new ArrayList<>();
        Permit holder = semaphore.acquire().join();
        self.add(Select.<Permit>first()
                .onAcquire(semaphore, permit -> {
                    self.get(0).cancel(false);
                    return permit;
                })
                .start());
        holder.close();
        assertInstanceOf(CancellationException.class, failure(self.get(0)));
        assertEquals(1, semaphore.availablePermits());
    }

    /** Other code unlocks the lock that the function holds; the releasing thread must see no exception. */
    @Test
    void function_thatThrowsWhenItsPermitWasReleasedByOtherCode_failsWithThat() {
        RuntimeException why = new ArithmeticException();
        Permit holder = mutex.lock().join();
        CompletableFuture<String> failed = Select.<String>first()
                .onLock(mutex, permit -> {
                    mutex.kotlin().unlock(null);
                    throw why;
                })
                .start();
        holder.close();
        assertSame(why, failure(failed));
        assertFalse(mutex.isLocked());
    }

    @Test
    void function_mayReturnNull() {
        assertNull(Select.<String>first()
                .onAwait(AsyncLatch.create(0), () -> null)
                .start()
                .join());
        CompletableFuture<String> none = CompletableFuture.completedFuture(null);
        assertNull(Select.<String>first().onFuture(none, x -> x).start().join());
        AsyncChannel<String> nulls = AsyncChannel.create(1);
        assertNull(
                Select.<String>first().onSend(nulls, null, () -> null).start().join());
        assertNull(Select.<String>first().onReceive(nulls, x -> x).start().join());
        assertEquals(0, nulls.size());
    }

    // ---- barriers

    @Test
    void arrive_asTheLastPartyThatWins_runsTheAction() {
        CompletableFuture<Void> action = new CompletableFuture<>();
        AsyncBarrier barrier = AsyncBarrier.create(2, () -> action);
        CompletableFuture<Integer> first = barrier.arrive();
        CompletableFuture<Integer> last = Select.<Integer>first()
                .onArrive(barrier, i -> i)
                .onReceive(channel, String::length)
                .start();
        assertFalse(first.isDone() || last.isDone());
        action.complete(null);
        assertEquals(0, await(last));
        assertEquals(1, await(first));
        assertFalse(channel.trySend("x"));
    }

    @Test
    void arrive_cancelledWhileItRunsTheAction_cancelsTheActionAndBreaks() {
        CompletableFuture<Void> action = new CompletableFuture<>();
        AsyncBarrier barrier = AsyncBarrier.create(2, () -> action);
        CompletableFuture<Integer> first = barrier.arrive();
        CompletableFuture<Integer> last =
                Select.<Integer>first().onArrive(barrier, i -> i).start();
        assertTrue(last.cancel(true));
        assertTrue(action.isCancelled());
        assertInstanceOf(BarrierBrokenException.class, awaitFailure(first));
    }

    @Test
    void arrive_endedBeforeItLeads_breaksTheGeneration() {
        Futures.Steps steps = new Futures.Steps();
        AsyncBarrier barrier = AsyncBarrier.create(2, () -> CompletableFuture.completedFuture(1));
        CompletableFuture<Integer> first = barrier.arrive();
        CompletableFuture<Integer> last =
                Select.<Integer>first().onArrive(barrier, i -> i).start(steps);
        last.cancel(false);
        assertInstanceOf(BarrierBrokenException.class, awaitFailure(first));
        assertTrue(barrier.isBroken());
    }

    @Test
    void arrive_thatLosesWhereAPartyThatLeavesBreaks_breaks() {
        AsyncBarrier barrier = AsyncBarrier.create(2, BarrierCancellation.BREAK);
        Select.<Object>first()
                .onArrive(barrier, i -> i)
                .onReceive(channel, x -> x)
                .start();
        assertTrue(channel.trySend("x"));
        assertTrue(barrier.isBroken());
    }

    // ---- stages

    @Test
    void onFuture_ofAStageThatIsNoFuture_works() {
        CompletableFuture<String> source = new CompletableFuture<>();
        Function<String, CompletableFuture<String>> select = name -> Select.<String>first()
                .onFuture(source.minimalCompletionStage(), x -> name + x)
                .onReceive(channel, x -> x)
                .start();
        CompletableFuture<String> waits = select.apply("1");
        CompletableFuture<String> loses = select.apply("2");
        loses.cancel(false);
        source.complete("x");
        assertEquals("1x", waits.join());
        assertEquals("3x", select.apply("3").join());
        assertEquals(0, channel.waiting());
    }

    @Test
    void onFuture_ofAStageThatThrows_failsTheSelectAndLeavesNothing() {
        RuntimeException why = new ArithmeticException();
        CompletableFuture<String> broken = new CompletableFuture<>() {
            @Override
            public CompletableFuture<String> toCompletableFuture() {
                throw why;
            }
        };
        CompletableFuture<String> failed = Select.<String>first()
                .onReceive(channel, x -> x)
                .onFuture(broken, x -> x)
                .start();
        assertSame(why, failure(failed));
        assertEquals(0, channel.waiting());
    }
}
