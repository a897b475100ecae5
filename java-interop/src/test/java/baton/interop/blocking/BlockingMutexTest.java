package baton.interop.blocking;

import static java.util.concurrent.TimeUnit.MILLISECONDS;
import static java.util.concurrent.TimeUnit.SECONDS;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import baton.PermitTimeoutException;
import baton.interop.AsyncMutex;
import baton.interop.BlockingMutex;
import baton.interop.Permit;
import java.io.IOException;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.locks.Lock;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** The contract of {@link Lock}, as far as no other test has it. */
@Timeout(300)
class BlockingMutexTest {
    private final AsyncMutex mutex = AsyncMutex.create("accounts");
    private final BlockingMutex lock = mutex.blocking();

    @Test
    void lock_thread_isTheHolderUntilItUnlocks() {
        lock.lock();
        assertEquals(Optional.of(Thread.currentThread()), mutex.holder());
        assertTrue(lock.isHeldByCurrentThread());
        lock.unlock();
        assertFalse(mutex.isLocked());
        assertFalse(lock.isHeldByCurrentThread());
    }

    @Test
    void unlock_byAThreadThatDoesNotHoldIt_throwsAndChangesNothing() throws Exception {
        assertThrows(IllegalMonitorStateException.class, lock::unlock);
        BlockedCall.started(() -> {
                    lock.lock();
                    return null;
                })
                .result();
        assertThrows(IllegalMonitorStateException.class, lock::unlock);
        assertTrue(mutex.isLocked());
    }

    @Test
    void lock_byItsOwner_throwsInsteadOfHanging() {
        lock.lock();
        for (Runnable again : new Runnable[] {
            lock::lock,
            () -> assertInterruptibly(lock::lockInterruptibly),
            () -> assertInterruptibly(() -> lock.tryLock(1, SECONDS))
        }) {
            IllegalStateException e = assertThrows(IllegalStateException.class, again::run);
            assertTrue(e.getMessage().contains("Mutex 'accounts'"), e.getMessage());
        }
        assertFalse(lock.tryLock());
        lock.unlock();
        assertFalse(mutex.isLocked());
    }

    private interface Interruptible {
        void run() throws InterruptedException;
    }

    private static void assertInterruptibly(Interruptible call) {
        try {
            call.run();
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        }
    }

    @Test
    void tryLock_held_isFalse_andOfTheTimedOneWhenTheTimeIsOver() throws Exception {
        try (Permit held = mutex.lock().join()) {
            assertFalse(lock.tryLock());
            for (long time : new long[] {Long.MIN_VALUE, -1, 0, 1}) assertFalse(lock.tryLock(time, MILLISECONDS));
            assertEquals(0, mutex.waiting());
            assertTrue(held.isHeld());
        }
        assertTrue(lock.tryLock(Long.MAX_VALUE, SECONDS));
        lock.unlock();
        assertTrue(lock.tryLock(-1, SECONDS));
    }

    @Test
    void lock_interrupted_waitsOnAndStaysInterrupted() throws Exception {
        Permit held = mutex.lock().join();
        BlockedCall<Boolean> waiter = BlockedCall.parked(() -> {
            lock.lock();
            return Thread.currentThread().isInterrupted() && lock.isHeldByCurrentThread();
        });
        waiter.thread.interrupt();
        waiter.awaitParked();
        assertEquals(1, mutex.waiting());
        held.close();
        assertTrue(waiter.result());
    }

    @Test
    void lockInterruptibly_interruptedBeforeOrWhileItWaits_throwsAndHoldsNothing() throws Exception {
        Thread.currentThread().interrupt();
        assertThrows(InterruptedException.class, lock::lockInterruptibly);
        assertFalse(Thread.interrupted());
        Thread.currentThread().interrupt();
        assertThrows(InterruptedException.class, () -> lock.tryLock(1, SECONDS));
        assertFalse(mutex.isLocked());
        Permit held = mutex.lock().join();
        BlockedCall<Boolean> waiter = BlockedCall.parked(() -> {
            assertThrows(InterruptedException.class, lock::lockInterruptibly);
            return Thread.currentThread().isInterrupted();
        });
        waiter.thread.interrupt();
        assertFalse(waiter.result());
        assertEquals(0, mutex.waiting());
        held.close();
        assertFalse(mutex.isLocked());
    }

    @Test
    void lock_strayUnparks_waitsOn() throws Exception {
        Permit held = mutex.lock().join();
        BlockedCall<Boolean> waiter =
                BlockedCall.parked(() -> lock.tryLock(1, SECONDS) && lock.isHeldByCurrentThread());
        for (int i = 0; i < 100; i++) LockSupport.unpark(waiter.thread);
        assertEquals(1, mutex.waiting());
        held.close();
        assertTrue(waiter.result());
    }

    @Test
    void call_returnsTheValueOrThrowsTheException_andUnlocks() throws Exception {
        assertEquals("value", lock.call(() -> "value"));
        IOException failure = new IOException();
        assertSame(
                failure,
                assertThrows(
                        IOException.class,
                        () -> lock.call(() -> {
                            throw failure;
                        })));
        assertFalse(mutex.isLocked());
        Permit held = mutex.lock().join();
        TimeoutException late =
                assertThrows(TimeoutException.class, () -> lock.call(Duration.ofMillis(1), () -> "never"));
        assertTrue(late.getMessage().startsWith("not locked within 1ms: Mutex 'accounts'"), late.getMessage());
        held.close();
        assertEquals("value", lock.call(Duration.ZERO, () -> "value"));
    }

    @Test
    void acquire_thread_isTheHolderUntilThePermitIsClosed() throws Exception {
        try (Permit held = lock.acquire()) {
            assertTrue(lock.isHeldByCurrentThread());
            assertThrows(IllegalStateException.class, lock::acquire);
            assertThrows(IllegalStateException.class, () -> lock.acquire(Duration.ofSeconds(1)));
            assertTrue(held.isHeld());
        }
        assertFalse(mutex.isLocked());
        Permit held = lock.acquire(Duration.ZERO);
        BlockedCall.started(
                        () -> { // any thread may close it
                            held.close();
                            return null;
                        })
                .result();
        assertFalse(mutex.isLocked());
        Permit unlocked = lock.acquire();
        lock.unlock();
        assertThrows(IllegalStateException.class, unlocked::close);
    }

    @Test
    void acquire_notGrantedInTime_throwsAndHoldsNothing() throws Exception {
        Permit held = mutex.lock().join();
        for (Duration timeout : new Duration[] {Duration.ofSeconds(-1), Duration.ZERO, Duration.ofMillis(1)}) {
            PermitTimeoutException late = assertThrows(PermitTimeoutException.class, () -> lock.acquire(timeout));
            assertTrue(late.getMessage().startsWith("not locked within "), late.getMessage());
        }
        assertEquals(0, mutex.waiting());
        BlockedCall<Boolean> waiter = BlockedCall.parked(() -> {
            try (Permit granted = lock.acquire(Duration.ofDays(1))) {
                return granted.isHeld() && lock.isHeldByCurrentThread();
            }
        });
        held.close();
        assertTrue(waiter.result());
        assertFalse(mutex.isLocked());
    }

    @Test
    void acquire_interrupted_throwsAndHoldsNothing() throws Exception {
        Permit held = mutex.lock().join();
        BlockedCall<Boolean> waiter = BlockedCall.parked(() -> {
            assertThrows(InterruptedException.class, lock::acquire);
            return mutex.waiting() == 0;
        });
        waiter.thread.interrupt();
        assertTrue(waiter.result());
        held.close();
        assertFalse(mutex.isLocked());
    }

    @Test
    void dump_ofAWaitingThread_namesTheMutex() throws Exception {
        Permit held = mutex.lock().join();
        BlockedCall<?> waiter = BlockedCall.parked(() -> lock.call(() -> "value"));
        assertSame(mutex.kotlin(), LockSupport.getBlocker(waiter.thread));
        assertTrue(lock.toString().startsWith("BlockingMutex 'accounts'"), lock.toString());
        held.close();
        assertEquals("value", waiter.result());
    }

    @Test
    void failure_ofAWaitingThread_hasItsFrames() throws Exception {
        BlockedCall<Boolean> owner = BlockedCall.started(() -> {
            lock.lock();
            lock.lock();
            return true;
        });
        Throwable failure =
                assertThrows(ExecutionException.class, owner::result).getCause();
        assertInstanceOf(IllegalStateException.class, failure);
        boolean isHere = false;
        for (StackTraceElement frame : failure.getStackTrace())
            isHere |= frame.getClassName().equals(getClass().getName());
        assertTrue(isHere);
    }
}
