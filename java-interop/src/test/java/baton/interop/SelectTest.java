package baton.interop;

import static baton.interop.Futures.await;
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
import baton.channels.ChannelOrder;
import baton.channels.ClosedChannelException;
import baton.channels.OnFull;
import baton.sync.BarrierCancellation;
import baton.sync.BrokenBarrierException;
import baton.sync.WaitOrder;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.function.Executable;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

class SelectTest {
    private static final Duration LONG = Duration.ofDays(1);

    private final AsyncChannel<String> channel = AsyncChannel.create(0);
    private final AsyncChannel<String> other = AsyncChannel.create(0);
    private final AsyncSemaphore semaphore = AsyncSemaphore.create(1);
    private final AsyncMutex mutex = AsyncMutex.create();

    // ---- every kind of clause wins and loses

    /** A primitive at which a clause waits, what lets it in, and what shows that nothing of it is left. */
    private abstract static class Kind {
        /** Adds the clause, whose function answers {@code "won"}. */
        abstract void add(Select<String> select);

        /** From the beginning the clause must wait. */
        abstract void letIn();

        abstract int waiting();

        /** After it has lost, and was let in too late: whoever comes next gets what it would have got. */
        abstract void checkNothingLost();

        /** After it has won. */
        void checkWon() {}

        @Override
        public String toString() {
            return getClass().getSimpleName();
        }
    }

    private static final class Receive extends Kind {
        private final AsyncChannel<String> channel = AsyncChannel.create(1);

        @Override
        void add(Select<String> select) {
            select.onReceive(channel, x -> x);
        }

        @Override
        void letIn() {
            assertTrue(channel.trySend("won"));
        }

        @Override
        int waiting() {
            return channel.waiting();
        }

        @Override
        void checkNothingLost() {
            assertEquals("won", channel.receive().join());
        }
    }

    private static final class Send extends Kind {
        private final AsyncChannel<String> channel = AsyncChannel.create(0);
        private CompletableFuture<String> received;

        @Override
        void add(Select<String> select) {
            select.onSend(channel, "x", () -> "won");
        }

        @Override
        void letIn() {
            received = channel.receive();
        }

        @Override
        int waiting() {
            return channel.waiting();
        }

        @Override
        void checkNothingLost() {
            assertFalse(received.isDone());
            assertTrue(channel.trySend("y"));
            assertEquals("y", received.join());
        }

        @Override
        void checkWon() {
            assertEquals("x", received.join());
        }
    }

    private static class Acquire extends Kind {
        private final AsyncSemaphore semaphore = AsyncSemaphore.create(3);
        private final Permit holder = semaphore.acquire(2).join();

        @Override
        void add(Select<String> select) {
            select.onAcquire(semaphore, 2, permit -> {
                try (permit) {
                    assertEquals(1, semaphore.availablePermits());
                    return "won";
                }
            });
        }

        @Override
        void letIn() {
            holder.close();
        }

        @Override
        int waiting() {
            return semaphore.waiting();
        }

        @Override
        void checkNothingLost() {
            assertEquals(3, semaphore.availablePermits());
        }

        @Override
        void checkWon() {
            checkNothingLost();
        }
    }

    private static final class Lock extends Kind {
        private final AsyncMutex mutex = AsyncMutex.create();
        private final Permit holder = mutex.lock().join();

        @Override
        void add(Select<String> select) {
            select.onLock(mutex, this, permit -> {
                try (permit) {
                    assertSame(this, mutex.holder().orElseThrow());
                    return "won";
                }
            });
        }

        @Override
        void letIn() {
            holder.close();
        }

        @Override
        int waiting() {
            return mutex.waiting();
        }

        @Override
        void checkNothingLost() {
            assertFalse(mutex.isLocked());
        }

        @Override
        void checkWon() {
            checkNothingLost();
        }
    }

    private static final class Read extends Kind {
        private final AsyncReadWriteLock lock = AsyncReadWriteLock.create();
        private final Permit holder = lock.write().join();

        @Override
        void add(Select<String> select) {
            select.onRead(lock, permit -> {
                try (permit) {
                    assertEquals(1, lock.readers());
                    return "won";
                }
            });
        }

        @Override
        void letIn() {
            holder.close();
        }

        @Override
        int waiting() {
            return lock.waiting();
        }

        @Override
        void checkNothingLost() {
            assertTrue(lock.tryLockWrite().isPresent());
        }

        @Override
        void checkWon() {
            checkNothingLost();
        }
    }

    private static final class Write extends Kind {
        private final AsyncReadWriteLock lock = AsyncReadWriteLock.create();
        private final Permit holder = lock.read().join();

        @Override
        void add(Select<String> select) {
            select.onWrite(lock, permit -> {
                try (permit) {
                    permit.downgrade();
                    assertEquals(1, lock.readers());
                    return "won";
                }
            });
        }

        @Override
        void letIn() {
            holder.close();
        }

        @Override
        int waiting() {
            return lock.waiting();
        }

        @Override
        void checkNothingLost() {
            assertTrue(lock.tryLockWrite().isPresent());
        }

        @Override
        void checkWon() {
            checkNothingLost();
        }
    }

    private static final class Open extends Kind {
        private final AsyncLatch latch = AsyncLatch.create(1);

        @Override
        void add(Select<String> select) {
            select.onAwait(latch, () -> "won");
        }

        @Override
        void letIn() {
            latch.countDown();
        }

        @Override
        int waiting() {
            return latch.waiting();
        }

        @Override
        void checkNothingLost() {
            assertEquals(0, latch.count());
        }
    }

    private static final class Zero extends Kind {
        private final AsyncWaitGroup group = AsyncWaitGroup.create();

        Zero() {
            group.add();
        }

        @Override
        void add(Select<String> select) {
            select.onAwait(group, () -> "won");
        }

        @Override
        void letIn() {
            group.done();
        }

        @Override
        int waiting() {
            return group.waiting();
        }

        @Override
        void checkNothingLost() {
            assertEquals(0, group.count());
        }
    }

    private static final class Arrive extends Kind {
        private final AsyncBarrier barrier = AsyncBarrier.create(2);
        private CompletableFuture<Integer> party;

        @Override
        void add(Select<String> select) {
            select.onArrive(barrier, index -> index == 1 ? "won" : "index = " + index);
        }

        @Override
        void letIn() {
            party = barrier.arrive();
        }

        @Override
        int waiting() {
            return barrier.waiting();
        }

        @Override
        void checkNothingLost() {
            assertFalse(party.isDone(), "the arrival was taken back");
            assertEquals(0, barrier.arrive().join());
        }

        @Override
        void checkWon() {
            assertEquals(0, party.join());
        }
    }

    private static final class Future extends Kind {
        private final CompletableFuture<String> future = new CompletableFuture<>();

        @Override
        void add(Select<String> select) {
            select.onFuture(future, x -> x);
        }

        @Override
        void letIn() {
            assertTrue(future.complete("won"), "a clause that loses cancels nothing");
        }

        @Override
        int waiting() {
            return future.getNumberOfDependents();
        }

        @Override
        void checkNothingLost() {
            assertEquals("won", future.join());
        }
    }

    static Stream<Kind> kinds() {
        return Stream.of(
                new Receive(),
                new Send(),
                new Acquire(),
                new Lock(),
                new Read(),
                new Write(),
                new Open(),
                new Zero(),
                new Arrive(),
                new Future());
    }

    @ParameterizedTest(name = "{0}")
    @MethodSource("kinds")
    void clause_thatWaits_winsWhenLetIn(Kind kind) {
        Select<String> select = Select.first();
        select.onReceive(channel, x -> x);
        kind.add(select);
        CompletableFuture<String> winner = select.start();
        assertEquals(1, channel.waiting());
        assertEquals(1, kind.waiting());
        kind.letIn();
        assertEquals("won", winner.join());
        assertEquals(0, channel.waiting() + kind.waiting());
        kind.checkWon();
    }

    @ParameterizedTest(name = "{0}")
    @MethodSource("kinds")
    void clause_thatNeedNotWait_winsAtOnce(Kind kind) {
        boolean arrives = kind instanceof Arrive;
        kind.letIn();
        Select<String> select = Select.<String>first().onReceive(channel, x -> x);
        kind.add(select);
        assertEquals(arrives ? "index = 0" : "won", select.start().join());
        assertEquals(0, channel.waiting() + kind.waiting());
    }

    @ParameterizedTest(name = "{0}")
    @MethodSource("kinds")
    void clause_thatLoses_leavesNothing(Kind kind) {
        Select<String> select = Select.first();
        kind.add(select);
        CompletableFuture<String> winner =
                select.onReceive(channel, x -> kind.waiting() + x).start();
        assertTrue(channel.trySend(" wait when the winner's function runs"));
        assertEquals("0 wait when the winner's function runs", winner.join());
        kind.letIn();
        kind.checkNothingLost();
    }

    static Stream<Arguments> kindsAndEnders() {
        List<Consumer<CompletableFuture<String>>> enders = List.of(
                future -> future.cancel(true),
                future -> future.complete("outside"),
                future -> future.completeExceptionally(new ArithmeticException()),
                future -> awaitFailure(future.orTimeout(1, TimeUnit.NANOSECONDS)),
                future -> await(future.completeOnTimeout("outside", 1, TimeUnit.NANOSECONDS)),
                future -> future.obtrudeValue("outside"));
        return Stream.of(0, 1, 2, 3, 4, 5).flatMap(i -> kinds().map(kind -> Arguments.of(kind, i, enders.get(i))));
    }

    @ParameterizedTest(name = "{0} {1}")
    @MethodSource("kindsAndEnders")
    void future_endedFromOutside_withdrawsTheClause(Kind kind, int number, Consumer<CompletableFuture<String>> end) {
        Select<String> select = Select.first();
        kind.add(select);
        CompletableFuture<String> winner = select.onTimeout(LONG, () -> "late").start();
        CompletableFuture<Integer> waitingThen = winner.handle((value, e) -> kind.waiting());
        end.accept(winner);
        assertEquals(0, await(waitingThen));
        kind.letIn();
        kind.checkNothingLost();
        assertTrue(winner.isCompletedExceptionally() || winner.join().equals("outside"));
    }

    /** It has won, and its executor has not begun: what it was granted goes back before the future is seen ended. */
    @ParameterizedTest(name = "{0} {1}")
    @MethodSource("kindsAndEnders")
    void future_endedFromOutsideBeforeTheFunctionBegins_givesTheGrantBack(
            Kind kind, int number, Consumer<CompletableFuture<String>> end) {
        Futures.Steps steps = new Futures.Steps();
        Select<String> select = Select.<String>first().onReceive(channel, x -> x);
        kind.add(select);
        CompletableFuture<String> winner = select.start(steps);
        kind.letIn();
        assertEquals(0, channel.waiting());
        assertFalse(winner.isDone());
        end.accept(winner);
        if (kind instanceof Arrive arrive) assertEquals(0, arrive.party.join(), "cannot be undone");
        else kind.checkNothingLost();
        steps.runAll();
        assertTrue(winner.isCompletedExceptionally() || winner.join().equals("outside"));
    }

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
        // All but surely: once in (2/3)^1000 runs one of them is missing.
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
    void timeout_zero_winsOnlyIfNobodyWinsAtOnce() {
        Select<String> select =
                Select.<String>first().onTimeout(Duration.ZERO, () -> "now").onAcquire(semaphore, permit -> "permit");
        assertEquals("permit", select.start().join());
        assertEquals("now", select.start().join());
        assertEquals(0, semaphore.waiting());
    }

    @Test
    void levels_ofClauses_countWhereThereAreLevels() {
        AsyncChannel<String> levels = AsyncChannel.create(0, ChannelOrder.PRIORITY, OnFull.SUSPEND, null);
        Select.first().onSend(levels, "low", Priority.LOW, () -> 1).start();
        Select.first().onSend(levels, "normal", () -> 1).start();
        Select.first().onSend(levels, "high", Priority.HIGH, () -> 1).start();
        List<String> got = new ArrayList<>();
        for (int i = 0; i < 3; i++) got.add(levels.receive().join());
        assertEquals(List.of("high", "normal", "low"), got);
        AsyncSemaphore urgent = AsyncSemaphore.create(1, WaitOrder.PRIORITY, null);
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
        // The two met: one has sent, the other received that.
        assertEquals(Set.of("mine", "sent"), Set.of(winner.join(), peer.join()));
        assertEquals(0, channel.waiting() + channel.size());
    }

    @Test
    void sendAndReceive_theOtherWayRound_doNotMeetEachOther() {
        CompletableFuture<String> winner = Select.<String>first()
                .onSend(channel, "mine", () -> "sent")
                .onReceive(channel, x -> x)
                .start();
        assertFalse(winner.isDone());
        assertTrue(channel.trySend("yours"));
        assertEquals("yours", winner.join());
        assertEquals(0, channel.waiting() + channel.size());
    }

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
        assertInstanceOf(ClosedChannelException.class, failure(waits));
        assertInstanceOf(ArithmeticException.class, failure(waits).getCause());
        assertEquals(0, mutex.waiting() + other.waiting());
        assertInstanceOf(ClosedChannelException.class, failure(select.start()));
        holder.close();
        try (Permit permit =
                (Permit) Select.first().onLock(mutex, p -> p).start().join()) {
            assertTrue(permit.isHeld());
        }
        other.close();
        assertInstanceOf(
                ClosedChannelException.class,
                failure(Select.<String>first().onSend(other, "x", () -> "sent").start()));
    }

    /** Between the grant of its place and its send. */
    @Test
    void channel_cancelledWhenASendHasWon_failsTheSelectAndTakesNothing() {
        List<String> dropped = new ArrayList<>();
        AsyncChannel<String> doomed = AsyncChannel.create(1, ChannelOrder.FIFO, OnFull.SUSPEND, null, dropped::add);
        Futures.Steps steps = new Futures.Steps();
        CompletableFuture<String> winner =
                Select.<String>first().onSend(doomed, "x", () -> "sent").start(steps);
        doomed.cancel();
        steps.runAll();
        assertInstanceOf(ClosedChannelException.class, failure(winner));
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
        Permit mine = mutex.lock(this).join();
        assertInstanceOf(
                IllegalStateException.class,
                failure(Select.<Permit>first().onLock(mutex, this, p -> p).start()));
        mine.close();
        AsyncBarrier broken = AsyncBarrier.create(2);
        broken.abort();
        assertInstanceOf(
                BrokenBarrierException.class,
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

    /** Somebody else gives back what the function holds; the thread that released must not feel it. */
    @Test
    void function_thatThrowsWhenItsPermitWasGivenBackPastIt_failsWithThat() {
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
        assertInstanceOf(BrokenBarrierException.class, awaitFailure(first));
    }

    @Test
    void arrive_endedBeforeItLeads_breaksTheGeneration() {
        Futures.Steps steps = new Futures.Steps();
        AsyncBarrier barrier = AsyncBarrier.create(2, () -> CompletableFuture.completedFuture(1));
        CompletableFuture<Integer> first = barrier.arrive();
        CompletableFuture<Integer> last =
                Select.<Integer>first().onArrive(barrier, i -> i).start(steps);
        last.cancel(false);
        assertInstanceOf(BrokenBarrierException.class, awaitFailure(first));
        assertTrue(barrier.isBroken());
    }

    @Test
    void arrive_thatLosesWhereAPartyThatLeavesBreaks_breaks() {
        AsyncBarrier barrier = AsyncBarrier.create(2, BarrierCancellation.BREAK, null);
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

    // ---- where it runs

    @Test
    void executor_runsTheFunction_andWhoeverGrantsIfItRejects() {
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
    @ValueSource(ints = {Integer.MIN_VALUE, -1, 0, 2, Integer.MAX_VALUE})
    void permits_outOfBounds_areRefused(int permits) {
        Select<String> select = Select.first();
        assertThrows(IllegalArgumentException.class, () -> select.onAcquire(semaphore, permits, permit -> "permit"));
        assertEquals("Select (clauses = 0)", select.toString());
    }

    @ParameterizedTest
    @ValueSource(longs = {Long.MIN_VALUE, -1})
    void timeout_negative_isRefused(long millis) {
        Select<String> select = Select.first();
        Duration timeout = Duration.ofMillis(millis);
        assertThrows(IllegalArgumentException.class, () -> select.onTimeout(timeout, () -> "late"));
        assertEquals("Select (clauses = 0)", select.toString());
    }

    @Test
    void timeout_huge_waits() {
        CompletableFuture<String> waits = Select.<String>first()
                .onTimeout(Duration.ofSeconds(Long.MAX_VALUE), () -> "late")
                .onReceive(channel, x -> x)
                .start();
        assertTrue(channel.trySend("a"));
        assertEquals("a", waits.join());
    }

    @Test
    void nulls_areRefused() {
        Select<String> select = Select.first();
        for (Executable call : List.<Executable>of(
                () -> select.onReceive(null, x -> ""),
                () -> select.onReceive(channel, null),
                () -> select.onSend(null, "", () -> ""),
                () -> select.onSend(channel, "", null),
                () -> select.onSend(channel, "", null, () -> ""),
                () -> select.onAcquire(semaphore, 1, null, x -> ""),
                () -> select.onAcquire(null, x -> ""),
                () -> select.onAcquire(semaphore, null),
                () -> select.onLock(null, x -> ""),
                () -> select.onLock(mutex, null),
                () -> select.onLock(mutex, null, x -> ""),
                () -> select.onRead(null, x -> ""),
                () -> select.onRead(AsyncReadWriteLock.create(), null),
                () -> select.onWrite(null, x -> ""),
                () -> select.onWrite(AsyncReadWriteLock.create(), null),
                () -> select.onAwait((AsyncLatch) null, () -> ""),
                () -> select.onAwait(AsyncLatch.create(1), null),
                () -> select.onAwait((AsyncWaitGroup) null, () -> ""),
                () -> select.onAwait(AsyncWaitGroup.create(), null),
                () -> select.onArrive(null, x -> ""),
                () -> select.onArrive(AsyncBarrier.create(1), null),
                () -> select.onFuture(null, x -> ""),
                () -> select.onFuture(new CompletableFuture<>(), null),
                () -> select.onTimeout(null, () -> ""),
                () -> select.onTimeout(LONG, null),
                () -> select.start(null))) {
            assertThrows(NullPointerException.class, call);
        }
        assertEquals("Select (clauses = 0)", select.toString());
    }

    @Test
    void orTimeout_onTheFuture_withdraws() {
        CompletableFuture<String> waits =
                Select.<String>first().onReceive(channel, x -> x).start();
        assertInstanceOf(TimeoutException.class, awaitFailure(waits.orTimeout(1, TimeUnit.MILLISECONDS)));
        assertEquals(0, channel.waiting());
    }
}
