package baton.test;

import baton.test.assertions.Expectations;
import baton.test.assertions.LeakCheck;
import java.util.List;

/**
 * Assertions about objects of Baton, for JUnit or any other test library.
 *
 * <pre>{@code
 * assertWaiters(2, semaphore);
 * assertNoLeaks(() -> importer.run(), semaphore, scheduler);
 * }</pre>
 *
 * <p>A target is an object that a {@code Monitor} can watch, of the Java API or of the Kotlin one. The error names
 * it with its state, the callers that wait and, as far as they are known, the holders: with
 * {@code -Dbaton.deadlocks=true} those of a mutex, a read-write lock and a semaphore of one permit, with the calls that
 * took it. It is an {@code AssertionFailedError} where JUnit is there.
 *
 * <p>Each method throws {@link AssertionError} if the assertion does not hold, and {@link IllegalArgumentException} for
 * a target about which it can say nothing. They may be called from any thread, and do not wait, {@code assertNoLeaks}
 * excepted.
 */
public final class BatonAssertions {
    private BatonAssertions() {}

    /**
     * Asserts that no caller waits for the target and that nothing of it is held: no permit, no element, no task or run, no
     * work of a wait group. The rate of a limiter, the count of a latch and the entries of a schedule do not count as
     * use.
     */
    public static void assertIdle(Object target) {
        Expectations.INSTANCE.idle(target);
    }

    /**
     * Asserts how many callers wait for the target: of a channel, those that send and those that receive; of a task
     * scheduler, its queued tasks.
     *
     * @param expected at least 0
     */
    public static void assertWaiters(int expected, Object target) {
        Expectations.INSTANCE.waiters(target, expected);
    }

    /**
     * Asserts how much of the target is in use, in the sense of its {@code usage()}.
     *
     * @param expected at least 0
     */
    public static void assertInUse(long expected, Object target) {
        Expectations.INSTANCE.inUse(target, expected);
    }

    /**
     * Asserts that a semaphore, a channel, a rate limiter or a task scheduler is closed, or that a circuit breaker is in
     * its closed state.
     */
    public static void assertClosed(Object target) {
        Expectations.INSTANCE.closed(target);
    }

    /**
     * Runs the body, and then asserts that it has left nothing behind at any of the targets: permits and locks that are
     * held, elements that nobody has received, work of a wait group that is not done, tasks and runs that go on, callers
     * that wait, entries of a schedule. Only what there is more of than before the body is a leak.
     *
     * <p>While something is left, it looks again, for a second: futures complete before their threads have taken the
     * last step. One error lists all leaks. If the body throws, that is thrown, with the error as suppressed.
     *
     * @param targets at least one
     * @throws X what the body throws
     */
    public static <X extends Throwable> void assertNoLeaks(Body<X> body, Object... targets) throws X {
        LeakCheck check = new LeakCheck(List.of(targets));
        Throwable failure = null;
        try {
            body.run();
        } catch (Throwable e) {
            failure = e;
            throw e;
        } finally {
            check.end(failure, LeakCheck.PATIENCE);
        }
    }

    /**
     * What {@link #assertNoLeaks} runs.
     *
     * @param <X> what it may throw
     */
    @FunctionalInterface
    public interface Body<X extends Throwable> {
        /** Runs the code of the test. */
        void run() throws X;
    }
}
