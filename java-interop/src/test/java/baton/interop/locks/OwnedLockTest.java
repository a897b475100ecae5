package baton.interop.locks;

import static baton.interop.Futures.awaitFailure;
import static baton.interop.Futures.failure;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertTrue;

import baton.interop.AsyncMutex;
import baton.interop.Futures;
import baton.interop.Futures.Steps;
import baton.interop.Permit;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeoutException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** An owner together with a timeout or an executor, and owners that are a timeout or an executor by type. */
class OwnedLockTest {
    private static final Duration DAY = Duration.ofDays(1);

    private final AsyncMutex mutex = AsyncMutex.create("account");

    @Test
    void lock_withOwnerAndTimeoutWhileFree_isDoneAtOnce() {
        for (Duration timeout : new Duration[] {Duration.ZERO, DAY}) {
            Permit permit = mutex.lock("me", timeout).join();
            assertEquals(Optional.of("me"), mutex.holder());
            permit.close();
            assertFalse(mutex.isLocked());
        }
    }

    @Test
    void lock_withOwnerAndTimeout_isHandedOverInOrder() {
        Permit permit = mutex.lock().join();
        CompletableFuture<Permit> first = mutex.lock("first", DAY);
        CompletableFuture<Permit> second = mutex.lock("second");
        CompletableFuture<Permit> third = mutex.lock("third", DAY);
        permit.close();
        assertEquals(Optional.of("first"), mutex.holder());
        first.join().close();
        assertEquals(Optional.of("second"), mutex.holder());
        second.join().close();
        assertEquals(Optional.of("third"), mutex.holder());
        third.join().close();
        assertFalse(mutex.isLocked());
    }

    @ParameterizedTest
    @ValueSource(longs = {0, 1, 20_000_000})
    void lock_withOwnerAfterTheTimeout_failsAndHoldsNothing(long nanos) {
        Permit permit = mutex.lock("other").join();
        var e = assertInstanceOf(TimeoutException.class, awaitFailure(mutex.lock("me", Duration.ofNanos(nanos))));
        assertTrue(e.getMessage().contains("Mutex 'account' (locked by other"), e.getMessage());
        assertEquals(0, mutex.waiting());
        permit.close();
        assertFalse(mutex.isLocked());
        mutex.lock("me", Duration.ZERO).join().close();
    }

    @Test
    void lock_withOwnerAndTimeout_cancelledLeavesTheQueue() {
        Permit permit = mutex.lock().join();
        CompletableFuture<Permit> leaves = mutex.lock("me", DAY);
        CompletableFuture<Permit> behind = mutex.lock("me", DAY);
        assertTrue(leaves.cancel(true));
        assertEquals(1, mutex.waiting());
        permit.close();
        assertTrue(leaves.isCancelled());
        behind.join().close();
        assertFalse(mutex.isLocked());
    }

    @Test
    void lock_withTimeoutAgainByTheSameOwner_failsAtOnceAndChangesNothing() {
        Permit permit = mutex.lock("me", DAY).join();
        for (Duration timeout : new Duration[] {Duration.ZERO, DAY, Duration.ofSeconds(Long.MAX_VALUE)}) {
            assertInstanceOf(IllegalStateException.class, failure(mutex.lock("me", timeout)));
        }
        assertEquals(Optional.of("me"), mutex.holder());
        assertEquals(0, mutex.waiting());
        permit.close();
        assertFalse(mutex.isLocked());
    }

    @Test
    void lock_withExecutorAgainByTheSameOwner_failsAtOnce() {
        Permit permit = mutex.lock("me", Runnable::run).join();
        assertInstanceOf(IllegalStateException.class, failure(mutex.lock("me", Futures.REJECTING)));
        permit.close();
        assertFalse(mutex.isLocked());
    }

    @Test
    void lock_byAnOwnerThatIsAnExecutor_hasItAsItsOwner() {
        Steps steps = new Steps();
        Permit permit = mutex.lock(steps).join();
        assertSame(steps, mutex.holder().orElseThrow());
        assertInstanceOf(IllegalStateException.class, failure(mutex.lock(steps)));
        CompletableFuture<Permit> waits = mutex.lock(null, steps);
        permit.close();
        assertEquals(Optional.empty(), mutex.holder());
        steps.runAll();
        waits.join().close();
        mutex.lock(steps, DAY).join().close();
        mutex.lock(steps, steps).join().close();
        assertEquals(0, steps.size());
    }

    @Test
    void lock_byAnOwnerThatIsADuration_needsACastUnlessATimeoutFollows() {
        Permit permit = mutex.lock(DAY).join();
        assertEquals(Optional.empty(), mutex.holder());
        permit.close();
        permit = mutex.lock((Object) DAY).join();
        assertSame(DAY, mutex.holder().orElseThrow());
        permit.close();
        permit = mutex.lock(DAY, Duration.ZERO).join();
        assertSame(DAY, mutex.holder().orElseThrow());
        permit.close();
    }
}
