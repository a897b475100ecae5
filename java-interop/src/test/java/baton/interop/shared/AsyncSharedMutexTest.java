package baton.interop.shared;

import static baton.interop.Futures.await;
import static baton.interop.Futures.awaitFailure;
import static baton.interop.Futures.failure;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import baton.interop.AsyncSharedRegion.AsyncSharedMutex;
import baton.interop.CancellableFuture;
import baton.interop.ContextPropagation;
import baton.interop.ContextPropagator;
import baton.interop.NoTimerThread;
import baton.shared.SharedLock;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Consumer;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

@Timeout(300)
class AsyncSharedMutexTest {
    private static final Duration LONGEST = Duration.ofSeconds(Long.MAX_VALUE, 999_999_999);
    private static final Duration MOST_NEGATIVE = Duration.ofSeconds(Long.MIN_VALUE);

    @TempDir
    private Path directory;

    private TwoMembers members;
    private AsyncSharedMutex mine;
    private AsyncSharedMutex others;

    @BeforeEach
    void open() {
        members = new TwoMembers(directory);
        mine = members.mine;
        others = members.others;
    }

    @AfterEach
    void close() {
        members.close();
    }

    private static void assertFree(AsyncSharedMutex mutex) {
        await(mutex.lock()).close();
    }

    @Test
    void lock_free_completesAtOnce() {
        CompletableFuture<SharedLock> locked = mine.lock();
        assertTrue(locked.isDone());
        assertFalse(locked.join().getAbandoned());
        assertEquals(Optional.empty(), others.tryLock());
        locked.join().close();
        assertFree(others);
    }

    @Test
    void lock_heldByAnotherMember_completesAfterItsClose() {
        SharedLock held = members.heldThere();
        CompletableFuture<SharedLock> waiting = mine.lock();
        assertFalse(waiting.isDone());
        held.close();
        SharedLock mineNow = await(waiting);
        assertTrue(mineNow.getFencingToken() > held.getFencingToken());
        mineNow.close();
        assertFree(others);
    }

    @Test
    void lock_bySeveralCallers_isGrantedInTheirOrder() {
        SharedLock held = members.heldThere();
        List<Integer> order = Collections.synchronizedList(new ArrayList<>());
        List<CompletableFuture<Void>> all = new ArrayList<>();
        for (int i = 0; i < 20; i++) {
            int number = i;
            all.add(mine.lock().thenAccept(lock -> {
                order.add(number);
                lock.close();
            }));
        }
        held.close();
        await(CompletableFuture.allOf(all.toArray(CompletableFuture[]::new)));
        assertEquals(List.of(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19), order);
    }

    @Test
    void lock_ofADeadMember_isGrantedAsAbandoned_untilItIsMarkedConsistent() {
        members.heldThere();
        CompletableFuture<SharedLock> waiting = mine.lock();
        members.there.close();
        SharedLock abandoned = await(waiting);
        assertTrue(abandoned.getAbandoned());
        abandoned.close();
        SharedLock still = mine.tryLock().orElseThrow();
        assertTrue(still.getAbandoned());
        still.markConsistent();
        still.close();
        assertFalse(await(mine.lock()).getAbandoned());
    }

    @Test
    void cancel_atTheHeadOfTheQueue_grantsTheNext() {
        SharedLock held = members.heldThere();
        CompletableFuture<SharedLock> first = mine.lock();
        CompletableFuture<SharedLock> second = mine.lock();
        assertTrue(first.cancel(true));
        assertTrue(first.isCancelled());
        held.close();
        await(second).close();
        assertFree(others);
    }

    /** A request that only drops its lock when it gets it would take a number each time. */
    @Test
    void withdrawal_atTheHeadOfTheQueue_doesNotWaitForTheLock() {
        List<Consumer<CompletableFuture<SharedLock>>> withdrawals = List.of(
                future -> future.cancel(true),
                future -> future.completeExceptionally(new IllegalArgumentException("own")),
                future -> awaitFailure(future.orTimeout(1, TimeUnit.MILLISECONDS)));
        for (Consumer<CompletableFuture<SharedLock>> withdraw : withdrawals) {
            int numbersTaken = 0;
            for (int round = 0; round < 5; round++) {
                SharedLock held = members.heldThere();
                withdraw.accept(mine.lock());
                held.close();
                SharedLock next = await(mine.lock());
                if (next.getFencingToken() > held.getFencingToken() + 1) numbersTaken++;
                next.close();
            }
            assertTrue(numbersTaken < 5, "each withdrawn request has got the lock"); // One that was just looking may.
        }
    }

    @Test
    void cancel_withinTheQueue_leavesIt() {
        SharedLock held = members.heldThere();
        CompletableFuture<SharedLock> first = mine.lock();
        CompletableFuture<SharedLock> second = mine.lock();
        CompletableFuture<SharedLock> third = mine.lock();
        assertTrue(second.cancel(true));
        held.close();
        await(first).close();
        await(third).close();
        assertFree(others);
    }

    @Test
    void cancel_hasAMessageThatNamesTheCall() {
        members.heldThere();
        CompletableFuture<SharedLock> waiting = mine.lock();
        waiting.cancel(false);
        String message =
                assertInstanceOf(CancellationException.class, failure(waiting)).getMessage();
        assertTrue(message.startsWith("lock of SharedMutex 'm' of "), message);
        assertTrue(message.endsWith(" was cancelled"), message);
    }

    @Test
    void complete_fromOutside_withdrawsTheRequest() {
        SharedLock held = members.heldThere();
        CompletableFuture<SharedLock> waiting = mine.lock();
        waiting.completeExceptionally(new IllegalArgumentException("own"));
        held.close();
        assertInstanceOf(IllegalArgumentException.class, failure(waiting));
        assertFree(mine);
        assertFree(others);
    }

    @Test
    void orTimeout_thatExpires_withdrawsTheRequest() {
        SharedLock held = members.heldThere();
        CompletableFuture<SharedLock> waiting = mine.lock().orTimeout(20, TimeUnit.MILLISECONDS);
        assertInstanceOf(TimeoutException.class, awaitFailure(waiting));
        held.close();
        assertFree(mine);
        assertFree(others);
    }

    /** The cancel meets every step of the wait: no lock is lost, and the next caller gets it. */
    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void cancel_atAnyMoment_losesNoLock(boolean isSource) {
        Random random = new Random(17);
        for (int round = 0; round < 300; round++) {
            SharedLock held = members.heldThere();
            List<CompletableFuture<SharedLock>> waiting = List.of(lock(isSource), lock(isSource), lock(isSource));
            CompletableFuture<Void> unlocked = CompletableFuture.runAsync(held::close);
            int spins = random.nextInt(20_000);
            for (int i = 0; i < spins; i++) Thread.onSpinWait();
            for (CompletableFuture<SharedLock> future : waiting) {
                if (!future.cancel(true)) future.join().close();
            }
            await(unlocked);
            assertFree(mine);
            assertFree(others);
        }
    }

    private CompletableFuture<SharedLock> lock(boolean isSource) {
        return isSource ? CancellableFuture.of(mine.lock()) : mine.lock();
    }

    /** A thread has taken the lock, and is held up before it completes the future. */
    @Test
    void cancel_ofAFutureWhoseLockIsTaken_completesItWithTheLock() throws InterruptedException {
        CountDownLatch taken = new CountDownLatch(1);
        CountDownLatch goOn = new CountDownLatch(1);
        Thread test = Thread.currentThread();
        ContextPropagation.enable(new ContextPropagator<String>() {
            @Override
            public String capture() {
                return "";
            }

            @Override
            public Runnable restore(String captured) {
                if (Thread.currentThread() == test) return () -> {};
                taken.countDown();
                try {
                    assertTrue(goOn.await(120, TimeUnit.SECONDS));
                } catch (InterruptedException e) {
                    throw new AssertionError(e);
                }
                return () -> {};
            }
        });
        try {
            SharedLock held = members.heldThere();
            CancellableFuture<SharedLock> future = CancellableFuture.of(mine.lock());
            held.close();
            assertTrue(taken.await(120, TimeUnit.SECONDS));
            assertFalse(future.cancel(true));
            assertEquals(Optional.empty(), others.tryLock());
            future.join().close();
        } finally {
            goOn.countDown();
            ContextPropagation.disable();
        }
        assertFree(others);
    }

    @Test
    void lockWithATimeout_noThreadForTheTimer_leavesNoRequest() {
        SharedLock held = mine.tryLock().orElseThrow();
        NoTimerThread.during(() -> assertThrows(OutOfMemoryError.class, () -> mine.lock(Duration.ofDays(1))));
        held.close();
        assertFree(mine);
        assertFree(others);
    }

    @Test
    void lockWithATimeout_thatExpires_failsWithTimeoutException() {
        SharedLock held = members.heldThere();
        CompletableFuture<SharedLock> waiting = mine.lock(Duration.ofMillis(20));
        String message =
                assertInstanceOf(TimeoutException.class, awaitFailure(waiting)).getMessage();
        assertTrue(message.startsWith("not locked within 20ms: SharedMutex 'm' of "), message);
        held.close();
        assertFree(mine);
        assertFree(others);
    }

    @Test
    void lockWithATimeout_behindAnotherCallerOfTheProcess_expires() {
        SharedLock held = mine.tryLock().orElseThrow();
        CompletableFuture<SharedLock> first = mine.lock(Duration.ofMillis(20));
        CompletableFuture<SharedLock> second = mine.lock();
        assertInstanceOf(TimeoutException.class, awaitFailure(first));
        held.close();
        await(second).close();
    }

    @Test
    void lockWithATimeout_ofZeroOrLess_succeedsOrFailsAtOnce() {
        for (Duration timeout : List.of(Duration.ZERO, Duration.ofNanos(-1), MOST_NEGATIVE)) {
            mine.lock(timeout).join().close();
            SharedLock held = members.heldThere();
            assertInstanceOf(TimeoutException.class, failure(mine.lock(timeout)));
            held.close();
        }
    }

    @Test
    void lockWithATimeout_ofAnyLength_waits() {
        for (Duration timeout : List.of(LONGEST, Duration.ofMillis(Long.MAX_VALUE), Duration.ofDays(1))) {
            SharedLock held = members.heldThere();
            CompletableFuture<SharedLock> waiting = mine.lock(timeout);
            assertFalse(waiting.isDone());
            held.close();
            await(waiting).close();
        }
    }

    @Test
    void lockWithATimeout_ofANanosecond_isRoundedUp() {
        SharedLock held = members.heldThere();
        CompletableFuture<SharedLock> waiting = mine.lock(Duration.ofNanos(1));
        assertInstanceOf(TimeoutException.class, awaitFailure(waiting));
        held.close();
        mine.lock(Duration.ofNanos(1)).join().close();
    }

    @Test
    void tryLock_held_isEmpty_free_isPresent() {
        SharedLock held = members.heldThere();
        assertEquals(Optional.empty(), mine.tryLock());
        held.close();
        SharedLock now = mine.tryLock().orElseThrow();
        assertEquals(Optional.empty(), mine.tryLock());
        now.close();
    }

    @Test
    void lock_closedByAnotherThread_isFree() {
        SharedLock lock = mine.lock().join();
        await(CompletableFuture.runAsync(lock::close));
        lock.close(); // A second close does nothing.
        assertFree(others);
    }

    @Test
    void futures_describeThemselves() {
        SharedLock held = members.heldThere();
        CompletableFuture<SharedLock> waiting = mine.lock();
        String text = waiting.toString();
        assertTrue(text.startsWith("lock of SharedMutex 'm' of "), text);
        assertTrue(mine.toString().startsWith("AsyncSharedMutex 'm' of "), mine.toString());
        held.close();
        await(waiting).close();
        assertTrue(waiting.toString().endsWith(", done"), waiting.toString());
    }

    @Test
    void mutex_ofTheSameName_isTheSame() {
        SharedLock held = AsyncSharedMutex.of(mine.kotlin()).tryLock().orElseThrow();
        assertEquals(Optional.empty(), members.here.mutex("m").tryLock());
        assertEquals("m", mine.name());
        assertThrows(IllegalStateException.class, () -> {
            held.close();
            held.markConsistent();
        });
    }
}
