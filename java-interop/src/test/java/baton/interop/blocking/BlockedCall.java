package baton.interop.blocking;

import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assertions.fail;

import java.util.Arrays;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

/** A call in a thread of its own. */
public final class BlockedCall<T> extends FutureTask<T> {
    private static final long LIMIT_SECONDS = 120;

    public final Thread thread;

    private BlockedCall(Callable<T> call) {
        super(call);
        thread = new Thread(this);
        thread.setDaemon(true);
    }

    /** Starts the call, and returns when it waits. */
    public static <T> BlockedCall<T> parked(Callable<T> call) {
        BlockedCall<T> parked = started(call);
        parked.awaitParked();
        return parked;
    }

    /** Starts the call. */
    public static <T> BlockedCall<T> started(Callable<T> call) {
        BlockedCall<T> started = new BlockedCall<>(call);
        started.thread.start();
        return started;
    }

    public void awaitParked() {
        long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(LIMIT_SECONDS);
        while (!isParked(thread)) {
            assertTrue(thread.isAlive(), "the call did not wait");
            if (System.nanoTime() > deadline) {
                fail("the call does not wait: " + Arrays.toString(thread.getStackTrace()));
            }
            Thread.yield();
        }
    }

    /** Whether the thread waits for a primitive. */
    public static boolean isParked(Thread thread) {
        Thread.State state = thread.getState();
        boolean waits = state == Thread.State.WAITING || state == Thread.State.TIMED_WAITING;
        return waits && LockSupport.getBlocker(thread) != null || isInFutex(thread);
    }

    /** Where shared primitives have the futex, a thread that waits for them is in a native call, which the JVM calls running. */
    private static boolean isInFutex(Thread thread) {
        return Arrays.stream(thread.getStackTrace())
                .anyMatch(frame -> frame.getClassName().equals("baton.shared.waiting.FutexCalls")
                        && frame.getMethodName().equals("sleep"));
    }

    public T result() throws Exception {
        return get(LIMIT_SECONDS, TimeUnit.SECONDS);
    }

    /** The exception with which an interrupted call ends. */
    public InterruptedException interruption() {
        ExecutionException ended = assertThrows(ExecutionException.class, this::result);
        return assertInstanceOf(InterruptedException.class, ended.getCause());
    }

    /** Asserts that the threads of the pool are not interrupted, in so many tasks. */
    public static void assertNotInterrupted(ExecutorService threads, int tasks) throws Exception {
        for (int i = 0; i < tasks; i++)
            assertFalse(
                    threads.submit(() -> Thread.currentThread().isInterrupted()).get());
    }
}
