package baton.interop.blocking;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import baton.interop.AsyncRetry;
import baton.interop.BlockingRetry;
import baton.resilience.AttemptTimeoutException;
import java.io.IOException;
import java.time.Duration;
import java.util.concurrent.Callable;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.FutureTask;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Retries on the calling thread: interrupts and timeouts. */
class BlockingRetryTest {
    private final CountDownLatch never = new CountDownLatch(1);
    private int attempts;

    @AfterEach
    void noInterrupt_isLeft() {
        assertFalse(Thread.interrupted());
    }

    private static BlockingRetry retry(Duration delay, Duration timeout) {
        return AsyncRetry.builder()
                .maxAttempts(3)
                .constant(delay)
                .maxDelay(delay)
                .attemptTimeout(timeout)
                .retryIf(e -> true)
                .name("api")
                .build()
                .blocking();
    }

    private String failing() throws IOException {
        attempts++;
        throw new IOException();
    }

    @Test
    void wait_interrupted_ends() throws Exception {
        FutureTask<InterruptedException> task = new FutureTask<>(() -> assertThrows(
                InterruptedException.class,
                () -> retry(Duration.ofHours(1), Duration.ofHours(1)).call(this::failing)));
        Thread thread = new Thread(task);
        thread.start();
        while (thread.getState() != Thread.State.TIMED_WAITING) Thread.onSpinWait();
        LockSupport.unpark(thread); // a wait goes on after this
        thread.interrupt();
        task.get();
        assertEquals(1, attempts);
    }

    @Test
    void thread_interruptedInAnAttempt_makesNoOther() {
        BlockingRetry retry = retry(Duration.ZERO, Duration.ofHours(1));
        InterruptedException e = assertThrows(
                InterruptedException.class,
                () -> retry.call(() -> {
                    Thread.currentThread().interrupt();
                    return failing();
                }));
        assertEquals(1, e.getSuppressed().length);
        assertThrows(
                InterruptedException.class,
                () -> retry.call(() -> {
                    attempts++;
                    throw new InterruptedException();
                }));
        assertEquals(2, attempts);
    }

    @Test
    void attempt_afterItsTimeout_isInterruptedAndRetried() {
        BlockingRetry retry = retry(Duration.ZERO, Duration.ofMillis(10));
        AttemptTimeoutException e = assertThrows(
                AttemptTimeoutException.class,
                () -> retry.call(() -> {
                    attempts++;
                    never.await();
                    return "";
                }));
        assertEquals("attempt 3 of retry 'api' not done within 10ms", e.getMessage());
        assertEquals(2, e.getSuppressed().length);
        assertEquals(3, attempts);
    }

    @Test
    void attempt_thatRestoresTheInterrupt_isRetriedAllTheSame() {
        BlockingRetry retry = retry(Duration.ZERO, Duration.ofMillis(10));
        AttemptTimeoutException e = assertThrows(
                AttemptTimeoutException.class,
                () -> retry.call(() -> {
                    attempts++;
                    while (!Thread.currentThread().isInterrupted()) Thread.onSpinWait();
                    throw new IOException("interrupted");
                }));
        assertEquals("interrupted", e.getSuppressed()[0].getMessage());
        assertEquals(3, attempts);
    }

    @Test
    void interruptBeforeTheTimeout_isNotLostWithIt() {
        BlockingRetry retry = retry(Duration.ZERO, Duration.ofMillis(10));
        boolean isEarly;
        do {
            attempts = 0;
            long start = System.nanoTime();
            AtomicLong interrupted = new AtomicLong();
            Throwable thrown = assertThrows(
                    Exception.class,
                    () -> retry.call(() -> {
                        Thread.currentThread().interrupt();
                        interrupted.compareAndSet(0, System.nanoTime() - start);
                        long end = System.nanoTime() + 30_000_000;
                        while (System.nanoTime() < end) Thread.onSpinWait();
                        return failing();
                    }));
            // On a busy machine the thread may have paused, so that the timeout came first.
            isEarly = interrupted.get() < 10_000_000;
            if (isEarly) {
                assertInstanceOf(InterruptedException.class, thrown);
                assertEquals(1, attempts);
            }
        } while (!isEarly);
    }

    @Test
    void value_afterTheTimeout_counts() throws Exception {
        Callable<String> late = () -> {
            while (!Thread.currentThread().isInterrupted()) Thread.onSpinWait();
            return "late";
        };
        assertEquals("late", retry(Duration.ZERO, Duration.ofMillis(10)).call(late));
    }

    /** Attempts that end at about the moment of their timeout. */
    @Test
    void timeouts_thatMeetTheEndOfAttempts_leaveNoInterrupt() throws Exception {
        BlockingRetry retry = retry(Duration.ZERO, Duration.ofMillis(1));
        for (int i = 0; i < 300; i++) {
            long end = System.nanoTime() + 900_000 + ThreadLocalRandom.current().nextInt(400_000);
            assertTrue(retry.call(() -> {
                while (System.nanoTime() < end) Thread.onSpinWait();
                return true;
            }));
            assertFalse(Thread.currentThread().isInterrupted());
        }
    }
}
