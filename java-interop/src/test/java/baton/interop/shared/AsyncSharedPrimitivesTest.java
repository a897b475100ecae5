package baton.interop.shared;

import static baton.interop.Futures.await;
import static baton.interop.Futures.awaitFailure;
import static java.util.concurrent.CompletableFuture.completedFuture;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import baton.PermitTimeoutException;
import baton.interop.AsyncSharedBarrier;
import baton.interop.AsyncSharedSemaphore;
import baton.interop.AsyncSharedWaitGroup;
import baton.interop.blocking.BlockedCall;
import baton.shared.AbandonedException;
import baton.shared.SharedBarrier;
import baton.shared.SharedLock;
import baton.shared.SharedPermit;
import baton.shared.SharedRegionException;
import baton.sync.BarrierBrokenException;
import baton.sync.BarrierTimeoutException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Supplier;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The futures of the shared semaphore, barrier and wait group. */
@Timeout(300)
class AsyncSharedPrimitivesTest {
    private static final Duration LONGEST = Duration.ofSeconds(Long.MAX_VALUE, 999_999_999);
    private static final Duration MOST_NEGATIVE = Duration.ofSeconds(Long.MIN_VALUE);

    @TempDir
    private Path directory;

    private TwoMembers members;

    @BeforeEach
    void open() {
        members = new TwoMembers(directory);
    }

    @AfterEach
    void close() {
        members.close();
    }

    private AsyncSharedSemaphore semaphore() {
        return members.here.semaphore("s", 3);
    }

    private AsyncSharedSemaphore othersSemaphore() {
        return members.there.semaphore("s", 3);
    }

    private AsyncSharedBarrier barrier() {
        return members.here.barrier("b", 2);
    }

    private AsyncSharedBarrier othersBarrier() {
        return members.there.barrier("b", 2);
    }

    private AsyncSharedWaitGroup group() {
        return members.here.waitGroup("g");
    }

    private AsyncSharedWaitGroup othersGroup() {
        return members.there.waitGroup("g");
    }

    @Test
    void acquire_free_completesAtOnce_taken_waitsForTheOtherMember() {
        SharedPermit two = semaphore().acquire(2).join();
        CompletableFuture<SharedPermit> waiting = othersSemaphore().acquire(2);
        assertFalse(waiting.isDone());
        assertEquals(Optional.empty(), othersSemaphore().tryAcquire(2));
        assertEquals(1, semaphore().availablePermits());
        two.close();
        await(waiting).close();
        await(semaphore().acquire(3)).close();
    }

    @Test
    void acquire_late_failsAndHoldsNothing() {
        SharedPermit all = othersSemaphore().tryAcquire(3).orElseThrow();
        TimeoutException late = assertInstanceOf(
                TimeoutException.class, awaitFailure(semaphore().acquire(2, Duration.ofMillis(10))));
        assertTrue(late.getMessage().startsWith("no 2 permits within 10ms from SharedSemaphore 's'"), late::getMessage);
        for (Duration none : List.of(Duration.ZERO, MOST_NEGATIVE)) {
            CompletableFuture<SharedPermit> refused = semaphore().acquire(1, none);
            assertTrue(refused.isCompletedExceptionally());
            assertInstanceOf(TimeoutException.class, awaitFailure(refused));
        }
        CompletableFuture<SharedPermit> patient = semaphore().acquire(1, LONGEST);
        all.close();
        await(patient).close();
        semaphore().tryAcquire(3).orElseThrow().close();
    }

    @Test
    void acquireBlocking_waits_orIsEmptyInTime() throws Exception {
        SharedPermit two = semaphore().acquireBlocking(2);
        assertEquals(Optional.empty(), othersSemaphore().acquireBlocking(2, Duration.ofMillis(10)));
        assertEquals(Optional.empty(), othersSemaphore().acquireBlocking(2, Duration.ZERO));
        BlockedCall<SharedPermit> blocked = BlockedCall.parked(() -> semaphore().acquireBlocking(3));
        two.close();
        blocked.get(120, TimeUnit.SECONDS).close();
        othersSemaphore().acquireBlocking().close();
        othersSemaphore().acquireBlocking(3, LONGEST).orElseThrow().close();
    }

    @Test
    void withPermit_holdsOneWhileItsStageRuns_andRunsNothingWhenItIsLate() {
        CompletableFuture<String> stage = new CompletableFuture<>();
        CompletableFuture<String> sent = semaphore().withPermit(() -> stage);
        assertEquals(2, othersSemaphore().availablePermits());
        stage.complete("sent");
        assertEquals("sent", sent.join());
        SharedPermit all = othersSemaphore().tryAcquire(3).orElseThrow();
        CompletableFuture<String> waiting = semaphore().withPermit(() -> completedFuture("later"), LONGEST);
        Supplier<CompletableFuture<String>> never = () -> {
            throw new AssertionError("ran");
        };
        assertInstanceOf(PermitTimeoutException.class, awaitFailure(semaphore().withPermit(never, Duration.ZERO)));
        CompletableFuture<String> cancelled = semaphore().withPermit(never);
        cancelled.cancel(false);
        all.close();
        assertEquals("later", await(waiting));
        assertEquals(
                "failed",
                assertThrows(CompletionException.class, semaphore().withPermit(() -> {
                            throw new IllegalStateException("failed");
                        })::join)
                        .getCause()
                        .getMessage());
        await(semaphore().acquire(3)).close();
    }

    @Test
    void holders_areTheProcessesWithTheirPermits() {
        long me = ProcessHandle.current().pid();
        assertEquals(Map.of(), semaphore().holders());
        assertEquals(OptionalLong.empty(), members.mine.holder());
        SharedPermit two = othersSemaphore().tryAcquire(2).orElseThrow();
        SharedLock lock = members.heldThere();
        assertEquals(Map.of(me, 2), semaphore().holders());
        assertEquals(OptionalLong.of(me), members.mine.holder());
        two.close();
        lock.close();
    }

    @ParameterizedTest
    @ValueSource(ints = {Integer.MIN_VALUE, -1, 0, 4, Integer.MAX_VALUE})
    void acquire_ofPermitsOutOfRange_throws(int permits) {
        assertThrows(IllegalArgumentException.class, () -> semaphore().acquire(permits));
        assertThrows(IllegalArgumentException.class, () -> semaphore().acquire(permits, LONGEST));
        assertThrows(IllegalArgumentException.class, () -> semaphore().tryAcquire(permits));
        assertThrows(IllegalArgumentException.class, () -> semaphore().acquireBlocking(permits));
        assertThrows(IllegalArgumentException.class, () -> semaphore().acquireBlocking(permits, LONGEST));
        assertEquals(3, semaphore().availablePermits());
    }

    @Test
    void acquire_cancelled_completedFromOutsideOrTimedOut_losesNoPermit() {
        for (int round = 0; round < 200; round++) {
            SharedPermit all = othersSemaphore().acquire(3).join();
            CompletableFuture<SharedPermit> cancelled = semaphore().acquire(2);
            CompletableFuture<SharedPermit> timedOut =
                    semaphore().acquire(1).orTimeout(round * 10L, TimeUnit.MICROSECONDS);
            CompletableFuture<SharedPermit> failed = semaphore().acquire();
            if (round % 2 == 0) all.close();
            cancelled.cancel(false);
            failed.completeExceptionally(new IllegalStateException());
            if (round % 2 == 1) all.close();
            timedOut.handle((permit, e) -> {
                        if (permit != null) permit.close();
                        return null;
                    })
                    .join();
            if (!cancelled.isCancelled()) cancelled.join().close();
            if (!failed.isCompletedExceptionally()) failed.join().close();
            await(othersSemaphore().acquire(3)).close();
        }
    }

    @Test
    void storm_ofCancels_losesNoPermit() {
        Random random = new Random(1);
        List<CompletableFuture<Void>> uses = new ArrayList<>();
        for (int i = 0; i < 2_000; i++) {
            AsyncSharedSemaphore from = i % 2 == 0 ? semaphore() : othersSemaphore();
            CompletableFuture<SharedPermit> request = from.acquire(1 + random.nextInt(3));
            uses.add(request.thenAccept(SharedPermit::close));
            if (random.nextInt(3) == 0) request.cancel(false);
        }
        for (CompletableFuture<Void> use : uses) {
            use.exceptionally(e -> {
                        if (e.getCause() instanceof CancellationException) return null;
                        throw new CompletionException(e);
                    })
                    .join();
        }
        SharedPermit all = await(semaphore().acquire(3));
        assertEquals(Optional.empty(), othersSemaphore().tryAcquire());
        all.close();
        assertEquals(3, semaphore().availablePermits());
    }

    @Test
    void regionClose_failsWaitingFutures() {
        othersSemaphore().acquire(3).join();
        othersGroup().add();
        List<CompletableFuture<?>> all =
                List.of(semaphore().acquire(), barrier().arrive(), group().await(), group().await(LONGEST));
        members.here.close();
        for (CompletableFuture<?> each : all) assertInstanceOf(SharedRegionException.class, awaitFailure(each));
        assertInstanceOf(
                SharedRegionException.class,
                awaitFailure(AsyncSharedBarrier.of(barrierOfClosed()).arrive()));
    }

    private SharedBarrier barrierOfClosed() {
        AsyncSharedBarrier barrier = othersBarrier();
        members.there.close();
        return barrier.kotlin();
    }

    @Test
    void arrive_ofAllParties_trips() {
        CompletableFuture<Integer> first = barrier().arrive();
        assertFalse(first.isDone());
        int last = othersBarrier().arrive(Duration.ZERO).join();
        assertEquals(Set.of(0, 1), Set.of(last, await(first)));
    }

    @Test
    void arriveBlocking_ofAllParties_trips_andATimeoutBreaksIt() throws Exception {
        BlockedCall<Integer> first = BlockedCall.parked(() -> barrier().arriveBlocking());
        assertEquals(0, othersBarrier().arriveBlocking(LONGEST));
        assertEquals(1, first.get(120, TimeUnit.SECONDS));
        assertThrows(BarrierTimeoutException.class, () -> barrier().arriveBlocking(Duration.ZERO));
        assertThrows(BarrierBrokenException.class, () -> othersBarrier().arriveBlocking());
    }

    @Test
    void awaitBlocking_ofWork_returnsWithTheLastDone() throws Exception {
        group().awaitBlocking();
        othersGroup().add();
        assertFalse(group().awaitBlocking(Duration.ofMillis(5)));
        BlockedCall<Boolean> blocked = BlockedCall.parked(() -> group().awaitBlocking(LONGEST));
        othersGroup().done();
        assertTrue(blocked.get(120, TimeUnit.SECONDS));
    }

    @Test
    void arrive_thatIsCancelledOrLate_breaksTheBarrier() {
        CompletableFuture<Integer> cancelled = barrier().arrive();
        cancelled.cancel(false);
        while (!othersBarrier().isBroken()) Thread.onSpinWait(); // The wait may be running on a callback thread.
        assertInstanceOf(
                BarrierBrokenException.class, awaitFailure(othersBarrier().arrive()));
        othersBarrier().reset();
        CompletableFuture<Integer> waiting = othersBarrier().arrive(LONGEST);
        barrier().reset();
        assertInstanceOf(BarrierBrokenException.class, awaitFailure(waiting));
        assertInstanceOf(BarrierTimeoutException.class, awaitFailure(barrier().arrive(Duration.ofMillis(5))));
        barrier().reset();
        assertInstanceOf(BarrierTimeoutException.class, awaitFailure(barrier().arrive(MOST_NEGATIVE)));
    }

    @Test
    void await_ofWork_completesWithTheLastDone() {
        assertTrue(group().await().isDone());
        group().add(2);
        othersGroup().add();
        CompletableFuture<Void> zero = group().await();
        assertInstanceOf(TimeoutException.class, awaitFailure(othersGroup().await(Duration.ofMillis(5))));
        assertInstanceOf(TimeoutException.class, awaitFailure(othersGroup().await(MOST_NEGATIVE)));
        assertEquals(3, group().count());
        for (int i = 0; i < 3; i++) othersGroup().done();
        await(zero);
        assertTrue(othersGroup().await(Duration.ZERO).isDone());
    }

    @Test
    void await_ofWorkThatIsLost_fails() {
        othersGroup().add();
        CompletableFuture<Void> zero = group().await();
        members.there.close();
        assertInstanceOf(AbandonedException.class, awaitFailure(zero));
    }

    @Test
    void condition_blocksJavaThreads() throws Exception {
        var changed = members.mine.condition("changed");
        try (SharedLock lock = members.mine.lockBlocking()) {
            CompletableFuture<Void> signalled = members.others.lock().thenAccept(others -> {
                members.others.condition("changed").signalAll();
                others.close();
            });
            changed.awaitBlocking(lock);
            await(signalled);
            assertEquals(Optional.empty(), members.others.tryLock());
        }
    }

    @Test
    void toString_namesThePrimitive() {
        String of = " of " + directory.resolve("app");
        assertEquals("AsyncSharedSemaphore 's'" + of + " (permits = 3, available = 3)", "" + semaphore());
        assertEquals("AsyncSharedBarrier 'b'" + of + " (parties = 2, arrived = 0)", "" + barrier());
        assertEquals("AsyncSharedWaitGroup 'g'" + of + " (count = 0)", "" + group());
        othersSemaphore().acquire(3).join();
        CompletableFuture<SharedPermit> waiting = semaphore().acquire();
        assertTrue(waiting.toString().startsWith("acquire of SharedSemaphore 's'" + of), waiting::toString);
        waiting.cancel(false);
        String message = waiting.handle((permit, e) -> e.getMessage()).join();
        assertTrue(message.startsWith("acquire of SharedSemaphore 's'"), message);
    }
}
