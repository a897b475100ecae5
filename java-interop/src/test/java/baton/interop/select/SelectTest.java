package baton.interop.select;

import static baton.interop.Futures.await;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import baton.Priority;
import baton.channels.ChannelOrder;
import baton.channels.OnFull;
import baton.interop.AsyncChannel;
import baton.interop.AsyncLatch;
import baton.interop.AsyncMutex;
import baton.interop.AsyncSemaphore;
import baton.interop.Futures;
import baton.interop.Permit;
import baton.interop.Select;
import baton.sync.WaitOrder;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.function.Executable;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class SelectTest {
    private static final Duration LONG = Duration.ofDays(1);
    private final AsyncChannel<String> channel = AsyncChannel.create(0);
    private final AsyncChannel<String> other = AsyncChannel.create(0);
    private final AsyncSemaphore semaphore = AsyncSemaphore.create(1);
    private final AsyncMutex mutex = AsyncMutex.create();

    // ---- order, time

    @Test
    void clauses_severalNeedNotWait_theFirstWinsAndTheOthersStay() {
        AsyncChannel<String> one = AsyncChannel.create(1);
        AsyncChannel<String> two = AsyncChannel.create(1);
        one.send("a");
        two.send("b");
        Select<String> select = Select.<String>first()
                .onReceive(two, x -> x)
                .onReceive(one, x -> x)
                .onAcquire(semaphore, permit -> "permit");
        assertEquals("b", select.start().join());
        assertEquals(1, one.size());
        assertEquals(1, semaphore.availablePermits());
        assertEquals("a", select.start().join(), "a select may be started again");
    }

    @Test
    void unbiased_triesTheClausesInAnyOrder() {
        AsyncLatch open = AsyncLatch.create(0);
        Select<Integer> select = Select.<Integer>first()
                .onAwait(open, () -> 1)
                .onAwait(open, () -> 2)
                .onAwait(open, () -> 3)
                .onTimeout(Duration.ZERO, () -> 4)
                .unbiased();
        Set<Integer> winners = new HashSet<>();
        // Almost certain: a given one is missing with probability (2/3)^1000.
        for (int i = 0; i < 1_000; i++) winners.add(select.start().join());
        assertEquals(Set.of(1, 2, 3), winners);
    }

    @Test
    void timeout_isOver_winsAndWithdrawsTheOthers() {
        Permit holder = semaphore.acquire().join();
        CompletableFuture<String> winner = Select.<String>first()
                .onReceive(channel, x -> x)
                .onAcquire(semaphore, permit -> "permit")
                .onTimeout(Duration.ofMillis(5), () -> channel.waiting() + semaphore.waiting() + " wait")
                .start();
        assertEquals("0 wait", await(winner));
        holder.close();
        assertEquals(1, semaphore.availablePermits());
    }

    @Test
    void timeout_zero_winsOnlyIfNoOtherClauseWinsAtOnce() {
        Select<String> select =
                Select.<String>first().onTimeout(Duration.ZERO, () -> "now").onAcquire(semaphore, permit -> "permit");
        assertEquals("permit", select.start().join());
        assertEquals("now", select.start().join());
        assertEquals(0, semaphore.waiting());
    }

    @Test
    void levels_ofClauses_countWhereThereAreLevels() {
        AsyncChannel<String> levels = AsyncChannel.create(0, ChannelOrder.PRIORITY, OnFull.SUSPEND);
        Select.first().onSend(levels, "low", Priority.LOW, () -> 1).start();
        Select.first().onSend(levels, "normal", () -> 1).start();
        Select.first().onSend(levels, "high", Priority.HIGH, () -> 1).start();
        List<String> got = new ArrayList<>();
        for (int i = 0; i < 3; i++) got.add(levels.receive().join());
        assertEquals(List.of("high", "normal", "low"), got);
        AsyncSemaphore urgent = AsyncSemaphore.create(1, WaitOrder.PRIORITY);
        Permit holder = urgent.acquire().join();
        CompletableFuture<Permit> idle = Select.<Permit>first()
                .onAcquire(urgent, 1, Priority.IDLE, p -> p)
                .start();
        CompletableFuture<Permit> critical = Select.<Permit>first()
                .onAcquire(urgent, 1, Priority.CRITICAL, p -> p)
                .start();
        holder.close();
        assertFalse(idle.isDone());
        critical.join().close();
        idle.join().close();
    }

    // ---- one channel twice

    @Test
    void sendAndReceive_onTheSameMeetingPoint_doNotMeetEachOther() {
        Select<String> select =
                Select.<String>first().onReceive(channel, x -> x).onSend(channel, "mine", () -> "sent");
        CompletableFuture<String> winner = select.start();
        assertFalse(winner.isDone());
        assertEquals(2, channel.waiting());
        CompletableFuture<String> peer = select.start();
        // The two clauses met: one select has sent the element that the other has received.
        assertEquals(Set.of("mine", "sent"), Set.of(winner.join(), peer.join()));
        assertEquals(0, channel.waiting() + channel.size());
    }

    // ---- where it runs

    @Test
    void executor_runsTheFunction_theGrantingThreadIfItRejects() {
        Futures.Steps steps = new Futures.Steps();
        Select<String> select =
                Select.<String>first().onReceive(channel, x -> x).onReceive(other, x -> x);
        CompletableFuture<String> waits = select.start(steps);
        CompletableFuture<String> rejected = select.start(Futures.REJECTING);
        assertTrue(channel.trySend("a"));
        assertEquals(1, other.waiting(), "the loser is withdrawn before the executor has begun");
        assertFalse(waits.isDone());
        assertTrue(channel.trySend("b"));
        assertEquals("b", rejected.join());
        steps.runAll();
        assertEquals("a", waits.join());
    }

    // ---- misuse

    @Test
    void start_withoutClauses_isRefused() {
        Select<String> empty = Select.first();
        assertThrows(IllegalStateException.class, empty::start);
        assertThrows(IllegalStateException.class, () -> empty.start(Runnable::run));
        assertEquals("Select (clauses = 0)", empty.toString());
        assertEquals("x", empty.onTimeout(Duration.ZERO, () -> "x").start().join());
    }

    @Test
    void change_afterTheStart_isRefused() {
        Select<String> select = Select.<String>first().onReceive(channel, x -> x);
        CompletableFuture<String> first = select.start();
        assertEquals("Select (clauses = 1, started)", select.toString());
        for (Executable change : List.<Executable>of(
                () -> select.onReceive(channel, x -> x),
                () -> select.onTimeout(LONG, () -> "late"),
                select::unbiased)) {
            assertThrows(IllegalStateException.class, change);
        }
        first.cancel(false);
        assertEquals(0, channel.waiting());
    }

    @ParameterizedTest
    @ValueSource(longs = {Long.MIN_VALUE, -1})
    void timeout_negative_winsWhenNoOtherClauseDoesAtOnce(long seconds) {
        Duration timeout = Duration.ofSeconds(seconds);
        Permit held = semaphore.acquire().join();
        Select<String> select =
                Select.<String>first().onTimeout(timeout, () -> "late").onAcquire(semaphore, Permit::toString);
        assertEquals("late", select.start().join());
        assertEquals(0, semaphore.waiting());
        held.close();
        assertTrue(select.start().join().startsWith("held"));
    }
}
