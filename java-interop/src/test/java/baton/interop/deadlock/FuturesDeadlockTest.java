package baton.interop.deadlock;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import baton.interop.AsyncMutex;
import baton.interop.AsyncReadWriteLock;
import baton.interop.AsyncSemaphore;
import baton.interop.BlockingSemaphore;
import baton.monitoring.Deadlock;
import baton.monitoring.Deadlocks;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Lock;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Deadlocks of futures with owners and of threads. They are looked for in the system's time, all in the same second. */
@Timeout(300)
class FuturesDeadlockTest {
    static {
        // Read once in a JVM: run alone, this test turns the notes on by itself.
        System.setProperty("baton.deadlocks", "true");
    }

    private final List<Thread> threads = new ArrayList<>();
    private final List<CompletableFuture<?>> futures = new ArrayList<>();

    /** The first, second or last action of a thread. */
    private interface Step {
        void run() throws Exception;
    }

    private void thread(String name, CyclicBarrier both, Step first, Step second, Step release) {
        Thread thread = new Thread(
                () -> {
                    try {
                        first.run();
                        try {
                            both.await();
                            second.run();
                        } finally {
                            release.run();
                        }
                    } catch (InterruptedException ended) {
                        // the test has ended
                    } catch (Exception e) {
                        throw new AssertionError(e);
                    }
                },
                name);
        threads.add(thread);
        thread.start();
    }

    private void deadlockOfThreads(Lock one, Lock two, String left, String right) {
        CyclicBarrier both = new CyclicBarrier(2);
        thread(left, both, one::lock, two::lockInterruptibly, one::unlock);
        thread(right, both, two::lock, one::lockInterruptibly, two::unlock);
    }

    private static Set<String> texts(List<Deadlock> deadlocks) {
        return deadlocks.stream()
                .flatMap(deadlock -> deadlock.getCycle().stream())
                .map(edge -> edge.getWaiter() + " > " + edge.getWaitsFor() + " > " + edge.getHeldBy())
                .collect(Collectors.toSet());
    }

    private static List<Deadlock> await(int count) {
        List<Deadlock> found = Deadlocks.find();
        while (found.size() < count) {
            LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(20));
            found = Deadlocks.find();
        }
        return found;
    }

    private static void assertIsTakenHere(Deadlock.Edge edge) {
        StackTraceElement[] frames = Objects.requireNonNull(edge.getTakenAt()).getStackTrace();
        assertTrue(
                Stream.of(frames).anyMatch(frame -> frame.getClassName().contains("FuturesDeadlockTest")),
                edge::toString);
    }

    @Test
    void threadsAndFuturesWithOwners_areNamed() throws Exception {
        assertTrue(Deadlocks.isEnabled());
        AsyncMutex a = AsyncMutex.create("a");
        AsyncMutex b = AsyncMutex.create("b");
        futures.add(a.ownedBy("left").lock());
        futures.add(b.ownedBy("right").lock());
        futures.add(b.ownedBy("left").lock());
        futures.add(a.ownedBy("right").lock());
        // Futures without an owner are unknown.
        AsyncMutex c = AsyncMutex.create("c");
        futures.add(c.lock());
        futures.add(c.lock());
        deadlockOfThreads(
                AsyncMutex.create("d").blocking(), AsyncMutex.create("e").blocking(), "t1", "t2");
        AsyncReadWriteLock h = AsyncReadWriteLock.create("h");
        AsyncReadWriteLock i = AsyncReadWriteLock.create("i");
        CyclicBarrier both = new CyclicBarrier(2);
        thread(
                "t5",
                both,
                h.blocking().readLock()::lock,
                i.blocking().writeLock()::lockInterruptibly,
                h.blocking().readLock()::unlock);
        thread(
                "t6",
                both,
                i.blocking().readLock()::lock,
                h.blocking().writeLock()::lockInterruptibly,
                i.blocking().readLock()::unlock);
        BlockingSemaphore p = AsyncSemaphore.create(1, "p").blocking();
        thread("t7", new CyclicBarrier(1), p::acquire, p::acquire, () -> {});
        List<Deadlock> found = await(4);
        assertEquals(
                Set.of(
                        "owner left > Mutex 'b' > owner right",
                        "owner right > Mutex 'a' > owner left",
                        "thread 't1' > Mutex 'e' > thread 't2'",
                        "thread 't2' > Mutex 'd' > thread 't1'",
                        "thread 't5' > ReadWriteLock 'i' (lockWrite) > thread 't6'",
                        "thread 't6' > ReadWriteLock 'h' (lockWrite) > thread 't5'",
                        "thread 't7' > Semaphore 'p' > thread 't7'"),
                texts(found));
        found.forEach(deadlock -> deadlock.getCycle().forEach(FuturesDeadlockTest::assertIsTakenHere));
        futures.forEach(future -> future.cancel(false));
        threads.forEach(Thread::interrupt);
        for (Thread thread : threads) thread.join();
        assertEquals(List.of(), Deadlocks.find());
    }
}
