package baton.interop.shared;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import baton.interop.AsyncSharedRegion.AsyncSharedMutex;
import baton.interop.blocking.BlockedCall;
import baton.shared.SharedLock;
import baton.shared.SharedRegionException;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Threads that block for a lock between processes. */
@Timeout(300)
class BlockingSharedMutexTest {
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

    private static <T> T resultOf(BlockedCall<T> call) throws Exception {
        return call.get(120, TimeUnit.SECONDS);
    }

    private static Throwable failureOf(BlockedCall<?> call) {
        return assertThrows(ExecutionException.class, () -> resultOf(call)).getCause();
    }

    private void assertBothFree() throws Exception {
        mine.lockBlocking().close();
        others.lockBlocking().close();
    }

    @Test
    void lockBlocking_heldByAnotherMember_returnsAfterItsClose() throws Exception {
        SharedLock held = members.heldThere();
        BlockedCall<SharedLock> call = BlockedCall.started(mine::lockBlocking);
        assertTrue(mine.lockBlocking(Duration.ofMillis(20)).isEmpty());
        assertFalse(call.isDone());
        held.close();
        resultOf(call).close();
        assertBothFree();
    }

    @Test
    void interrupt_whileAnotherMemberHolds_endsTheCall() throws Exception {
        SharedLock held = members.heldThere();
        BlockedCall<SharedLock> call = BlockedCall.started(mine::lockBlocking);
        call.thread.interrupt();
        assertInstanceOf(InterruptedException.class, failureOf(call));
        held.close();
        assertBothFree();
    }

    @Test
    void interrupt_withinTheQueue_endsTheCall() throws Exception {
        SharedLock held = mine.tryLock().orElseThrow();
        BlockedCall<SharedLock> call = BlockedCall.parked(mine::lockBlocking);
        BlockedCall<Optional<SharedLock>> timed = BlockedCall.parked(() -> mine.lockBlocking(Duration.ofDays(1)));
        call.thread.interrupt();
        timed.thread.interrupt();
        assertInstanceOf(InterruptedException.class, failureOf(call));
        assertInstanceOf(InterruptedException.class, failureOf(timed));
        held.close();
        assertBothFree();
    }

    @Test
    void interrupt_beforeTheCall_locksNothing() throws Exception {
        Thread.currentThread().interrupt();
        assertThrows(InterruptedException.class, mine::lockBlocking);
        assertFalse(Thread.currentThread().isInterrupted());
        Thread.currentThread().interrupt();
        assertThrows(InterruptedException.class, () -> mine.lockBlocking(Duration.ZERO));
        assertBothFree();
    }

    @Test
    void timeout_ofZeroOrLess_doesNotWait() throws Exception {
        for (Duration timeout : List.of(Duration.ZERO, Duration.ofNanos(-1), Duration.ofSeconds(Long.MIN_VALUE))) {
            mine.lockBlocking(timeout).orElseThrow().close();
            SharedLock held = members.heldThere();
            assertEquals(Optional.empty(), mine.lockBlocking(timeout));
            held.close();
            SharedLock local = mine.tryLock().orElseThrow();
            assertEquals(Optional.empty(), mine.lockBlocking(timeout));
            local.close();
        }
    }

    @Test
    void timeout_thatPasses_leavesNothingBehind() throws Exception {
        SharedLock held = members.heldThere();
        assertEquals(Optional.empty(), mine.lockBlocking(Duration.ofMillis(20)));
        assertEquals(Optional.empty(), mine.lockBlocking(Duration.ofNanos(1)));
        held.close();
        assertBothFree();
    }

    @Test
    void timeout_ofAnyLength_waits() throws Exception {
        for (Duration timeout : List.of(Duration.ofSeconds(Long.MAX_VALUE, 999_999_999), Duration.ofDays(365_000))) {
            SharedLock held = members.heldThere();
            BlockedCall<Optional<SharedLock>> call = BlockedCall.started(() -> mine.lockBlocking(timeout));
            held.close();
            resultOf(call).orElseThrow().close();
        }
    }

    @Test
    void close_whileThreadsWait_failsThem() {
        members.heldThere();
        List<BlockedCall<SharedLock>> calls = new ArrayList<>();
        for (int i = 0; i < 3; i++) calls.add(BlockedCall.started(mine::lockBlocking));
        members.here.close();
        for (BlockedCall<SharedLock> call : calls) assertInstanceOf(SharedRegionException.class, failureOf(call));
    }

    private static Thread startVirtual(Runnable task) throws ReflectiveOperationException {
        return (Thread)
                Thread.class.getMethod("startVirtualThread", Runnable.class).invoke(null, task);
    }

    private static CompletableFuture<Long> onVirtualThread(BlockedSection section) throws ReflectiveOperationException {
        CompletableFuture<Long> ended = new CompletableFuture<>();
        startVirtual(() -> {
            try {
                ended.complete(section.run());
            } catch (Throwable e) {
                ended.completeExceptionally(e);
            }
        });
        return ended;
    }

    private interface BlockedSection {
        long run() throws Exception;
    }

    /** More threads wait than there are carriers, and the thread that unlocks is a virtual one, too. */
    @Test
    void virtualThreads_thatWaitForAnotherMember_leaveTheirCarriers() throws Exception {
        assumeTrue(Runtime.version().feature() >= 21, "no virtual threads");
        int threads = 2 * Runtime.getRuntime().availableProcessors() + 2;
        List<SharedLock> held = new ArrayList<>();
        List<CompletableFuture<Long>> waiting = new ArrayList<>();
        for (int i = 0; i < threads; i++) {
            held.add(members.there.mutex("m" + i).tryLock().orElseThrow());
            AsyncSharedMutex mutex = members.here.mutex("m" + i);
            waiting.add(onVirtualThread(() -> {
                try (SharedLock lock = mutex.lockBlocking()) {
                    return lock.getFencingToken();
                }
            }));
        }
        CompletableFuture<Long> unlocked = onVirtualThread(() -> {
            held.forEach(SharedLock::close);
            return 0;
        });
        assertEquals(0, unlocked.get(120, TimeUnit.SECONDS));
        for (CompletableFuture<Long> call : waiting) assertEquals(2, call.get(120, TimeUnit.SECONDS));
    }

    @Test
    void virtualThreads_ofTwoMembers_excludeEachOther() throws Exception {
        assumeTrue(Runtime.version().feature() >= 21, "no virtual threads");
        ByteBuffer bytes = members.here.bytes("counter", Long.BYTES);
        List<CompletableFuture<Long>> all = new ArrayList<>();
        for (int i = 0; i < 20; i++) {
            AsyncSharedMutex mutex = i % 2 == 0 ? mine : others;
            all.add(onVirtualThread(() -> {
                for (int n = 0; n < 50; n++) {
                    try (SharedLock lock = mutex.lockBlocking()) {
                        long read = bytes.getLong(0);
                        if (n % 10 == 0) Thread.yield();
                        bytes.putLong(0, read + 1);
                        assertFalse(lock.getAbandoned());
                    }
                }
                return 0;
            }));
        }
        for (CompletableFuture<Long> call : all) assertEquals(0, call.get(120, TimeUnit.SECONDS));
        assertEquals(1000, bytes.getLong(0));
    }

    @Test
    void virtualThread_interrupted_holdsNothing() throws Exception {
        assumeTrue(Runtime.version().feature() >= 21, "no virtual threads");
        SharedLock held = members.heldThere();
        CompletableFuture<Throwable> ended = new CompletableFuture<>();
        Thread thread =
                startVirtual(() -> ended.complete(assertThrows(InterruptedException.class, mine::lockBlocking)));
        thread.interrupt();
        assertInstanceOf(InterruptedException.class, ended.get(120, TimeUnit.SECONDS));
        held.close();
        assertBothFree();
    }
}
