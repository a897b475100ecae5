package guide.priorities;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import baton.Priority;
import baton.interop.AsyncTaskScheduler;
import baton.interop.PriorityExecutor;
import baton.interop.ScheduledTaskFuture;
import baton.interop.TaskOptions;
import baton.scheduler.OnFullQueue;
import baton.scheduler.TaskDeadlineException;
import baton.scheduler.TaskRejectedException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Future;
import org.junit.jupiter.api.Test;

/** The Java of docs/priorities.md. */
class PrioritiesJavaTest {
    private final List<String> log = Collections.synchronizedList(new ArrayList<>());

    @Test
    void uplink_withOneSlot_servesTheUrgentRequestFirst() {
        Uplink uplink = new Uplink();
        CompletableFuture<String> first = new CompletableFuture<>();
        ScheduledTaskFuture<String> running = uplink.open(() -> first);
        ScheduledTaskFuture<String> later = uplink.prefetch(() -> done("later"));
        ScheduledTaskFuture<String> urgent = uplink.open(() -> done("urgent"));
        first.complete("first");
        assertEquals("first", running.join());
        assertEquals("later", later.join());
        assertEquals("urgent", urgent.join());
        assertEquals(List.of("urgent", "later"), log);
    }

    @Test
    void executor_ofHigherLevel_runsItsTasksFirst() throws Exception {
        PriorityExecutor normal = PriorityExecutor.create(1, "reports"); // one thread of its own
        PriorityExecutor critical = normal.level(Priority.CRITICAL); // the same thread
        CountDownLatch isBusy = new CountDownLatch(1);
        normal.execute(() -> await(isBusy));
        Future<?> report = normal.submit(() -> log.add("report"));
        Future<?> token = critical.submit(() -> log.add("token"));
        isBusy.countDown();
        report.get();
        token.get();
        assertEquals(List.of("token", "report"), log);
        critical.shutdown(); // ends this level alone
        normal.shutdown();
    }

    @Test
    void task_withOptions_isRefusedAfterItsDeadline() {
        AsyncTaskScheduler scheduler = AsyncTaskScheduler.builder(1)
                .maxWait(Priority.LOW, Duration.ofSeconds(5))
                .capacity(1_000, OnFullQueue.REJECT)
                .build();
        CompletableFuture<String> slow = new CompletableFuture<>();
        scheduler.schedule(Priority.NORMAL, () -> slow);
        TaskOptions soonOrNever = TaskOptions.of(Priority.LOW).withKey("page 7").withDeadline(Duration.ZERO);
        ScheduledTaskFuture<String> page = scheduler.schedule(soonOrNever, () -> done("page 7"));
        CompletionException failure = assertThrows(CompletionException.class, page::join);
        assertInstanceOf(TaskDeadlineException.class, failure.getCause());
        slow.complete("");
        scheduler.close(); // waits for the tasks it has
        assertTrue(log.isEmpty());
    }

    @Test
    void task_beyondTheCapacity_isRejected() {
        AsyncTaskScheduler scheduler =
                AsyncTaskScheduler.builder(1).capacity(0, OnFullQueue.REJECT).build();
        CompletableFuture<String> slow = new CompletableFuture<>();
        scheduler.schedule(Priority.NORMAL, () -> slow);
        CompletionException failure =
                assertThrows(CompletionException.class, scheduler.schedule(Priority.HIGH, () -> done("no"))::join);
        assertInstanceOf(TaskRejectedException.class, failure.getCause());
        slow.complete("");
        scheduler.close();
    }

    @Test
    void service_overScheduler_countsTowardsItsSlots() throws Exception {
        AsyncTaskScheduler scheduler = AsyncTaskScheduler.create(2);
        ExecutorService low = scheduler.executor(Priority.LOW); // for code that takes an ExecutorService
        assertEquals(42, low.submit(() -> 42).get());
        String token =
                scheduler.blocking().call(Priority.CRITICAL, () -> "token"); // on this thread, once it has a slot
        assertEquals("token", token);
        low.shutdown();
        assertFalse(scheduler.schedule(Priority.LOW, () -> done("open")).isCompletedExceptionally());
        scheduler.close();
    }

    @Test
    void failure_whoseFutureHasNoReader_reachesTheListener() {
        IllegalStateException noSuchPage = new IllegalStateException("no such page");
        AsyncTaskScheduler scheduler = AsyncTaskScheduler.builder(2)
                .onFailure((key, failure) -> log.add(key + ": " + failure.getMessage())) // must not block
                .build();
        scheduler.schedule(
                TaskOptions.of(Priority.LOW).withKey("page 6"), () -> CompletableFuture.failedFuture(noSuchPage));
        TaskOptions brief = TaskOptions.of(Priority.LOW).withRunTimeout(Duration.ofSeconds(2));
        ScheduledTaskFuture<String> page7 = scheduler.schedule(brief, () -> done("page 7"));
        scheduler.close(); // waits for the calls of the listener, and until page7 is done
        assertTrue(page7.isDone());
        assertEquals(
                List.of("page 6: no such page", "page 7"), log.stream().sorted().toList());
    }

    private CompletableFuture<String> done(String what) {
        log.add(what);
        return CompletableFuture.completedFuture(what);
    }

    private static void await(CountDownLatch latch) {
        try {
            latch.await();
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        }
    }
}
