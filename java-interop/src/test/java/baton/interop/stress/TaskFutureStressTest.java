package baton.interop.stress;

import static baton.interop.Futures.await;
import static baton.interop.Futures.awaitFailure;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import baton.Priority;
import baton.interop.AsyncTaskScheduler;
import baton.interop.ScheduledTaskFuture;
import baton.interop.TaskOptions;
import baton.scheduler.TaskScheduler;
import baton.scheduler.TaskSchedulerConfig;
import baton.scheduler.TaskSchedulerMetrics;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.BinaryOperator;
import java.util.function.Supplier;
import java.util.stream.Stream;
import kotlinx.coroutines.CompletableJob;
import kotlinx.coroutines.CoroutineScopeKt;
import kotlinx.coroutines.Job;
import kotlinx.coroutines.JobKt;
import kotlinx.coroutines.future.FutureKt;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

@Tag("any-jdk")
class TaskFutureStressTest {
    private static final int ROUNDS = 2_000;

    /**
     * Pools in which a second thread can run a task while a dependent blocks. In a pool of one thread, a dependent that
     * waits for another command of the pool always hangs. In JDK 17's ForkJoinPool it hangs once in a few thousand
     * times: that pool may leave a command unexecuted that a worker has pushed before blocking.
     */
    static Stream<Supplier<ExecutorService>> pools() {
        return Stream.of(() -> Executors.newFixedThreadPool(2), Executors::newCachedThreadPool);
    }

    private static void end(ExecutorService pool) throws InterruptedException {
        pool.shutdownNow();
        assertTrue(pool.awaitTermination(120, TimeUnit.SECONDS));
    }

    @ParameterizedTest
    @MethodSource("pools")
    void dependent_thatJoinsTheNextTask_doesNotDeadlock(Supplier<ExecutorService> pools) throws Exception {
        ExecutorService pool = pools.get();
        AsyncTaskScheduler scheduler = AsyncTaskScheduler.create(1);
        for (int round = 0; round < ROUNDS; round++) {
            scheduler.pause();
            CompletableFuture<Integer> first =
                    scheduler.schedule(TaskOptions.of(Priority.NORMAL).withExecutor(pool), () -> 1);
            CompletableFuture<Integer> next =
                    scheduler.schedule(TaskOptions.of(Priority.NORMAL).withExecutor(pool), () -> 2);
            CompletableFuture<Integer> sum = CompletableFuture.allOf(first).thenApply(x -> first.join() + next.join());
            scheduler.resume();
            assertEquals(3, await(sum));
        }
        end(pool);
    }

    @ParameterizedTest
    @MethodSource("pools")
    void dependent_addedMeanwhileThatJoinsTheNextTask_doesNotDeadlock(Supplier<ExecutorService> pools)
            throws Exception {
        comesMeanwhile(pools.get(), (first, next) -> first.thenApply(x -> next.join()));
    }

    /** The future does not notice that an {@code allOf} is derived from it. */
    @ParameterizedTest
    @MethodSource("pools")
    void allOf_addedMeanwhileThatWaitsForALatchOfTheNextTask_doesNotDeadlock(Supplier<ExecutorService> pools)
            throws Exception {
        comesMeanwhile(pools.get(), (first, next) -> {
            CountDownLatch latch = new CountDownLatch(1);
            next.thenRun(latch::countDown);
            return CompletableFuture.allOf(first).thenApply(x -> {
                try {
                    return latch.await(120, TimeUnit.SECONDS) ? 2 : 0;
                } catch (InterruptedException e) {
                    throw new AssertionError(e);
                }
            });
        });
    }

    /** The wait was over before the future was done: in more than half of the rounds. */
    @ParameterizedTest
    @MethodSource("pools")
    void close_whileATaskEnds_returnsWhenItsFutureIsDone(Supplier<ExecutorService> pools) throws Exception {
        ExecutorService pool = pools.get();
        for (int round = 0; round < ROUNDS; round++) {
            AsyncTaskScheduler scheduler =
                    AsyncTaskScheduler.builder(2).executor(pool).build();
            CompletableFuture<Integer> first = scheduler.schedule(Priority.NORMAL, () -> 1);
            CompletableFuture<Void> second = scheduler.schedule(Priority.NORMAL, () -> {
                throw new IllegalStateException();
            });
            if (round % 3 == 0) await(scheduler.drain());
            else if (round % 3 == 1) await(scheduler.awaitIdle());
            else scheduler.close();
            assertTrue(first.isDone() && second.isDone());
        }
        end(pool);
    }

    @ParameterizedTest
    @MethodSource("pools")
    void dependent_addedMeanwhileThatClosesTheScheduler_doesNotDeadlock(Supplier<ExecutorService> pools)
            throws Exception {
        ExecutorService pool = pools.get();
        for (int round = 0; round < ROUNDS; round++) {
            AsyncTaskScheduler scheduler =
                    AsyncTaskScheduler.builder(2).executor(pool).build();
            AtomicInteger begun = new AtomicInteger();
            CompletableFuture<Integer> task = scheduler.schedule(Priority.NORMAL, () -> begun.incrementAndGet());
            for (int i = ThreadLocalRandom.current().nextInt(50); begun.get() == 0 || i > 0; i--) Thread.onSpinWait();
            CompletableFuture<Void> closed = task.thenRun(scheduler::close);
            if (round % 2 == 0) scheduler.close();
            await(closed);
        }
        end(pool);
    }

    /** Derives the dependent while the first task is ending. */
    private static void comesMeanwhile(ExecutorService pool, BinaryOperator<CompletableFuture<Integer>> dependent)
            throws Exception {
        AsyncTaskScheduler scheduler = AsyncTaskScheduler.create(1);
        AtomicInteger begun = new AtomicInteger();
        for (int round = 0; round < ROUNDS; round++) {
            int now = round;
            scheduler.pause();
            CompletableFuture<Integer> first = scheduler.schedule(
                    TaskOptions.of(Priority.NORMAL).withExecutor(pool), () -> begun.incrementAndGet());
            CompletableFuture<Integer> next =
                    scheduler.schedule(TaskOptions.of(Priority.NORMAL).withExecutor(pool), () -> 2);
            scheduler.resume();
            for (int i = ThreadLocalRandom.current().nextInt(50); begun.get() <= now || i > 0; i--) {
                Thread.onSpinWait();
            }
            assertEquals(2, await(dependent.apply(first, next)));
        }
        end(pool);
    }

    @ParameterizedTest
    @MethodSource("pools")
    void tasks_thatAreCancelledAtRandom_giveEveryPlaceBack(Supplier<ExecutorService> pools) throws Exception {
        ExecutorService pool = pools.get();
        AsyncTaskScheduler scheduler = AsyncTaskScheduler.create(3);
        AtomicInteger running = new AtomicInteger();
        AtomicInteger most = new AtomicInteger();
        List<CompletableFuture<?>> tasks = new ArrayList<>();
        ThreadLocalRandom random = ThreadLocalRandom.current();
        for (int round = 0; round < ROUNDS; round++) {
            CompletableFuture<Integer> task = random.nextBoolean()
                    ? scheduler.schedule(TaskOptions.of(Priority.NORMAL).withExecutor(pool), () -> count(running, most))
                    : scheduler.schedule(Priority.NORMAL, () -> CompletableFuture.supplyAsync(() -> 1));
            tasks.add(task);
            if (random.nextInt(4) == 0) tasks.get(random.nextInt(tasks.size())).cancel(true);
        }
        await(scheduler.drain());
        CompletableFuture<?>[] all = tasks.toArray(CompletableFuture[]::new);
        await(CompletableFuture.allOf(all).handle((x, e) -> e));
        TaskSchedulerMetrics metrics = scheduler.metrics();
        TaskSchedulerMetrics.OfLevel normal = metrics.get(Priority.NORMAL);
        assertEquals(0, metrics.getRunning() + metrics.getQueued());
        assertEquals(ROUNDS, normal.getDone() + normal.getFailed() + normal.getCancelled() + normal.getWithdrawn());
        // A cancelled callable keeps its place until it ends.
        assertTrue(most.get() <= 3, most::toString);
        end(pool);
    }

    /** Tasks that never end by themselves: if one is not cancelled, the scope does not complete. */
    @Test
    void scope_cancelledWhileTasksAreScheduled_leavesNone() throws Exception {
        ExecutorService pool = Executors.newFixedThreadPool(2);
        AtomicInteger begun = new AtomicInteger();
        for (int round = 1; round <= ROUNDS; round++) {
            CompletableJob scope = JobKt.Job((Job) null);
            TaskScheduler tasks =
                    new TaskScheduler(CoroutineScopeKt.CoroutineScope(scope), 2, null, new TaskSchedulerConfig());
            AsyncTaskScheduler scheduler = AsyncTaskScheduler.of(tasks);
            Callable<List<ScheduledTaskFuture<Integer>>> submitter = () -> {
                begun.incrementAndGet();
                return Stream.generate(
                                () -> scheduler.schedule(Priority.NORMAL, () -> new CompletableFuture<Integer>()))
                        .limit(4)
                        .toList();
            };
            var first = pool.submit(submitter);
            var second = pool.submit(submitter);
            for (int i = ThreadLocalRandom.current().nextInt(500); begun.get() < 2 * round || i > 0; i--) {
                Thread.onSpinWait();
            }
            scope.cancel((CancellationException) null);
            for (var submitted : List.of(first, second)) {
                for (var task : submitted.get()) assertThrows(CancellationException.class, () -> await(task));
            }
            awaitFailure(FutureKt.asCompletableFuture(scope));
            // A task leaves its scope before the scheduler counts its end.
            await(scheduler.drain());
            TaskSchedulerMetrics metrics = scheduler.metrics();
            assertEquals(0, metrics.getRunning() + metrics.getQueued(), metrics::toString);
        }
        end(pool);
    }

    private static int count(AtomicInteger running, AtomicInteger most) {
        int now = running.incrementAndGet();
        most.accumulateAndGet(now, Math::max);
        return running.decrementAndGet();
    }
}
