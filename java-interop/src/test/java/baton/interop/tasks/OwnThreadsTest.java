package baton.interop.tasks;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import baton.Priority;
import baton.interop.PriorityExecutor;
import baton.interop.PriorityExecutor.Threads;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.Future;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Executors on threads of their own. Each test has a name of its own, by which it finds its threads. */
@Timeout(value = 300, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class OwnThreadsTest {
    private static void assumeAvailable(Threads kind) {
        assumeTrue(kind == Threads.PLATFORM || Runtime.version().feature() >= 21);
    }

    private static void await(CountDownLatch latch) {
        try {
            assertTrue(latch.await(120, TimeUnit.SECONDS));
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        }
    }

    private static void awaitEnd(Thread thread) throws InterruptedException {
        thread.join(120_000);
        assertFalse(thread.isAlive(), thread::toString);
    }

    /** The threads on which this many commands run at the same time. */
    private static List<Thread> runTogether(PriorityExecutor executor, int commands) throws Exception {
        CyclicBarrier barrier = new CyclicBarrier(commands);
        List<Future<Thread>> all = new ArrayList<>();
        for (int i = 0; i < commands; i++) {
            all.add(executor.submit(() -> {
                barrier.await(120, TimeUnit.SECONDS);
                return Thread.currentThread();
            }));
        }
        List<Thread> threads = new ArrayList<>();
        for (Future<Thread> future : all) threads.add(future.get());
        return threads;
    }

    private static Set<String> names(List<Thread> threads) {
        Set<String> names = new TreeSet<>();
        for (Thread thread : threads) names.add(thread.getName());
        return names;
    }

    private static List<Thread> alive(String prefix) {
        return Thread.getAllStackTraces().keySet().stream()
                .filter(thread -> thread.getName().startsWith(prefix))
                .toList();
    }

    @ParameterizedTest
    @EnumSource
    void commands_blockingAndFarMoreThanProcessors_runAtTheSameTime(Threads kind) throws Exception {
        assumeAvailable(kind);
        int parallelism = Runtime.getRuntime().availableProcessors() * 20 + 10;
        PriorityExecutor executor = PriorityExecutor.create(parallelism, kind, "many");
        List<Thread> threads = runTogether(executor, parallelism);
        assertEquals(parallelism, names(threads).size());
        executor.shutdown();
        assertTrue(executor.awaitTermination(120, TimeUnit.SECONDS));
        for (Thread thread : threads) awaitEnd(thread);
    }

    @ParameterizedTest
    @EnumSource
    void commands_moreThanTheParallelism_wait(Threads kind) throws Exception {
        assumeAvailable(kind);
        PriorityExecutor executor = PriorityExecutor.create(2, kind);
        CountDownLatch run = new CountDownLatch(2);
        CountDownLatch end = new CountDownLatch(1);
        for (int i = 0; i < 5; i++) {
            executor.execute(() -> {
                run.countDown();
                await(end);
            });
        }
        await(run);
        assertEquals(3, executor.metrics().get(Priority.NORMAL).getQueued());
        executor.shutdown();
        end.countDown();
        assertTrue(executor.awaitTermination(120, TimeUnit.SECONDS));
    }

    @Test
    void threads_haveTheNameOfTheExecutor_andAreDaemons() throws Exception {
        PriorityExecutor executor = PriorityExecutor.create(3, "uplink");
        List<Thread> threads = runTogether(executor, 3);
        assertEquals(Set.of("baton-uplink-1", "baton-uplink-2", "baton-uplink-3"), names(threads));
        for (Thread thread : threads) assertTrue(thread.isDaemon(), thread::toString);
        assertTrue(executor.toString().contains("PriorityDispatcher 'uplink' (parallelism = 3"), executor::toString);
        assertTrue(executor.toString().contains("over threads baton-uplink-*"), executor::toString);
        executor.shutdown();
    }

    @Test
    void threads_ofAnExecutorWithoutAName_areBatonsToo() throws Exception {
        PriorityExecutor executor = PriorityExecutor.create(1);
        assertSame(Priority.NORMAL, executor.priority());
        assertEquals(
                "baton-executor-1",
                executor.submit(() -> Thread.currentThread().getName()).get());
        executor.shutdown();
    }

    @Test
    void threads_areStartedOnDemand_andNeverMoreThanTheParallelism() throws Exception {
        PriorityExecutor executor = PriorityExecutor.create(2, "demand");
        assertEquals(List.of(), alive("baton-demand-"));
        List<Future<Thread>> all = new ArrayList<>();
        for (int i = 0; i < 10_000; i++) {
            all.add(executor.level(Priority.values()[i % 5]).submit(Thread::currentThread));
        }
        Set<String> names = new TreeSet<>();
        for (Future<Thread> future : all) names.add(future.get().getName());
        assertTrue(Set.of("baton-demand-1", "baton-demand-2").containsAll(names), names::toString);
        executor.shutdown();
    }

    /** A thread that inherited them would keep the values of the thread that happened to start it. */
    @Test
    void threads_inheritNoThreadLocals() throws Exception {
        InheritableThreadLocal<String> local = new InheritableThreadLocal<>();
        local.set("caller");
        PriorityExecutor executor = PriorityExecutor.create(1, "heir");
        assertEquals(null, executor.submit(local::get).get());
        executor.shutdown();
        local.remove();
    }

    @Test
    void shutdown_runsTheRest_endsTheThreads_andLeavesOtherLevelsOpen() throws Exception {
        PriorityExecutor executor = PriorityExecutor.create(1, "shutdown");
        PriorityExecutor high = executor.level(Priority.HIGH);
        Thread first = executor.submit(Thread::currentThread).get();
        Future<String> last = executor.submit(() -> "last");
        executor.shutdown();
        assertThrows(RejectedExecutionException.class, () -> executor.execute(() -> {}));
        assertEquals("last", last.get());
        assertTrue(executor.awaitTermination(120, TimeUnit.SECONDS));
        awaitEnd(first);
        Thread second = high.submit(Thread::currentThread).get();
        assertTrue(second.getName().startsWith("baton-shutdown-"), second::toString);
        awaitEnd(second);
    }

    @ParameterizedTest
    @EnumSource
    void shutdownNow_interruptsWhatRuns_returnsTheRest_andEndsTheThreads(Threads kind) throws Exception {
        assumeAvailable(kind);
        PriorityExecutor executor = PriorityExecutor.create(1, kind, "now");
        CountDownLatch runs = new CountDownLatch(1);
        List<Thread> threads = new ArrayList<>();
        Future<String> running = executor.submit(() -> {
            threads.add(Thread.currentThread());
            runs.countDown();
            try {
                new CountDownLatch(1).await();
                return "never";
            } catch (InterruptedException e) {
                return "interrupted";
            }
        });
        Runnable waits = () -> {};
        executor.execute(waits);
        await(runs);
        assertEquals(List.of(waits), executor.shutdownNow());
        assertEquals("interrupted", running.get());
        assertTrue(executor.awaitTermination(120, TimeUnit.SECONDS));
        awaitEnd(threads.get(0));
    }

    @Test
    void virtualThreads_haveNames_orAreRefusedByTheirReason() throws Exception {
        if (Runtime.version().feature() < 21) {
            var e = assertThrows(
                    UnsupportedOperationException.class, () -> PriorityExecutor.create(1, Threads.VIRTUAL));
            assertEquals("no virtual threads in JDK " + Runtime.version() + ", since 21", e.getMessage());
            return;
        }
        PriorityExecutor executor = PriorityExecutor.create(100, Threads.VIRTUAL, "page");
        List<Thread> threads = runTogether(executor, 100);
        for (Thread thread : threads) {
            assertEquals(true, Thread.class.getMethod("isVirtual").invoke(thread));
            assertTrue(thread.getName().matches("baton-page-[0-9]+"), thread::toString);
        }
        assertTrue(executor.toString().contains("over virtual threads baton-page-*"), executor::toString);
        for (Thread thread : threads) awaitEnd(thread);
    }

    @Test
    void parallelism_belowOne_isRefused() {
        for (Threads kind : Threads.values()) {
            if (kind == Threads.VIRTUAL && Runtime.version().feature() < 21) continue;
            var e = assertThrows(IllegalArgumentException.class, () -> PriorityExecutor.create(0, kind, "none"));
            assertEquals("parallelism = 0, must be at least 1", e.getMessage());
        }
    }
}
