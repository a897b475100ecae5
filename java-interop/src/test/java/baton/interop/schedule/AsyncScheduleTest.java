package baton.interop.schedule;

import static baton.interop.Futures.failure;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import baton.Priority;
import baton.interop.AsyncRetry;
import baton.interop.AsyncSchedule;
import baton.interop.AsyncScheduleBuilder;
import baton.interop.ScheduleStores;
import baton.interop.Triggers;
import baton.resilience.RetryPolicy;
import baton.scheduler.Due;
import baton.scheduler.PausedBy;
import baton.scheduler.RunOutcome;
import baton.scheduler.ScheduleEntry;
import baton.scheduler.ScheduleStore;
import baton.scheduler.Trigger;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.time.DayOfWeek;
import java.time.Duration;
import java.time.Instant;
import java.time.LocalTime;
import java.time.ZoneId;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import org.junit.jupiter.api.Test;

/** The Java API of schedules, beside {@link ScheduleContract}, in virtual time. */
class AsyncScheduleTest {
    private final VirtualTime time = new VirtualTime();
    private final List<Due<String>> runs = new ArrayList<>();
    private final List<String> failures = new ArrayList<>();

    /** The stages of the runs that go on. */
    private final List<CompletableFuture<String>> stages = new ArrayList<>();

    private AsyncScheduleBuilder<String> builder(boolean endsAtOnce) {
        return AsyncSchedule.<String>builder(due -> run(due, endsAtOnce))
                .executor(time.executor)
                .clock(time.clock)
                .name("checks")
                .onFailure((key, failure) -> failures.add(key + ": " + failure));
    }

    private CompletionStage<String> run(Due<String> due, boolean endsAtOnce) {
        runs.add(due);
        CompletableFuture<String> stage = new CompletableFuture<>();
        if (endsAtOnce) stage.complete("done");
        else stages.add(stage);
        return stage;
    }

    private AsyncSchedule<String> started() {
        return started(builder(true));
    }

    private AsyncSchedule<String> started(AsyncScheduleBuilder<String> builder) {
        AsyncSchedule<String> schedule = builder.start();
        time.settle();
        return schedule;
    }

    /** When the runs were due, in seconds since the epoch, with their keys. */
    private List<String> times() {
        return runs.stream()
                .map(due -> due.getKey() + due.getAt().getEpochSecond())
                .toList();
    }

    @Test
    void triggers_ofEachKind_fireAtTheirTimes() {
        AsyncSchedule<String> schedule = started();
        time.pass(Duration.ofSeconds(5));
        schedule.put("every", Triggers.every(Duration.ofSeconds(20), Instant.EPOCH));
        schedule.put("delay", Triggers.fixedDelay(Duration.ofSeconds(30)));
        schedule.put("at", Triggers.at(Instant.ofEpochSecond(50)));
        schedule.put("own", after -> after.plusSeconds(25));
        schedule.put("end", after -> after.isBefore(Instant.ofEpochSecond(10)) ? after.plusSeconds(40) : null);
        assertEquals(5, schedule.size());

        time.pass(Duration.ofSeconds(60));
        assertEquals(
                List.of("every20", "own30", "delay35", "every40", "end45", "at50", "own55", "every60", "delay65"),
                times());
        assertEquals(3, schedule.size());
        assertEquals(9, schedule.metrics().getFired());
        assertEquals(Duration.ZERO, schedule.metrics().lagP99());
    }

    @Test
    void every_withoutAnchor_hasThePhaseOfItsKey() {
        AsyncSchedule<String> schedule = started();
        schedule.put("a", Triggers.every(Duration.ofMinutes(2)));
        Instant first = schedule.nextDue("a").orElseThrow();
        schedule.put("a", Triggers.every(Duration.ofMinutes(2)));
        assertEquals(Optional.of(first), schedule.nextDue("a"));
        time.pass(Duration.ofHours(1));
        assertEquals(30, runs.size());
    }

    @Test
    void run_lastsUntilItsStageHasCompleted() {
        AsyncSchedule<String> schedule = started(builder(false).maxConcurrency(1));
        schedule.put("a", Triggers.at(Instant.EPOCH));
        schedule.put("low", Triggers.at(Instant.EPOCH), Priority.LOW);
        time.settle();
        schedule.put("high", Triggers.at(Instant.EPOCH), Priority.HIGH);
        time.pass(Duration.ofSeconds(3));
        assertEquals(List.of("a0"), times());
        assertEquals(1, schedule.metrics().getRunning());

        stages.get(0).complete("done");
        time.settle();
        stages.get(1).complete("done");
        time.settle();
        assertEquals(List.of("a0", "high0", "low0"), times());
        assertEquals(Duration.ofSeconds(3), runs.get(1).lag());
    }

    @Test
    void edits_ofTheKotlinSchedule_areThoseOfThis() {
        AsyncSchedule<String> schedule = started();
        schedule.kotlin().put("a", Triggers.at(Instant.ofEpochSecond(7)), Priority.NORMAL, null, false);
        assertEquals(Optional.of(Instant.ofEpochSecond(7)), schedule.nextDue("a"));
    }

    @Test
    void trigger_thatThrows_isListed() {
        AsyncSchedule<String> schedule = started();
        schedule.put("a", Triggers.at(Instant.ofEpochSecond(7)));
        schedule.put("b", after -> {
            throw new IllegalStateException("no calendar");
        });
        assertEquals(List.of("b"), schedule.failedTriggers());
        assertEquals(Optional.empty(), schedule.nextDue("b"));
    }

    @Test
    void action_thatFails_isReportedUnwrapped_keepsTheEntry() {
        AsyncSchedule<String> schedule = AsyncSchedule.<String>builder(due -> switch (due.getKey()) {
                    case "stage" ->
                        CompletableFuture.supplyAsync(
                                        () -> {
                                            throw new IllegalArgumentException("bad");
                                        },
                                        Runnable::run)
                                .thenApply(value -> value);
                    case "null" -> null;
                    default -> throw new IllegalStateException("thrown");
                })
                .executor(time.executor)
                .clock(time.clock)
                .onFailure((key, failure) -> failures.add(key + ": " + failure))
                .start();
        for (String key : List.of("stage", "null", "throws")) {
            schedule.put(key, Triggers.every(Duration.ofSeconds(10), Instant.EPOCH));
        }
        time.pass(Duration.ofSeconds(10));
        assertEquals(3, schedule.metrics().getFailed());
        assertEquals(3, schedule.size());
        assertTrue(failures.contains("stage: java.lang.IllegalArgumentException: bad"), failures::toString);
        assertTrue(failures.contains("throws: java.lang.IllegalStateException: thrown"), failures::toString);
        assertTrue(
                failures.stream().anyMatch(text -> text.startsWith("null: ") && text.contains("returned null")),
                failures::toString);
    }

    @Test
    void stage_thatIsCancelled_isAFailureOfItsRun() {
        AsyncSchedule<String> schedule = started(builder(false));
        schedule.put("a", Triggers.every(Duration.ofSeconds(10), Instant.EPOCH));
        time.pass(Duration.ofSeconds(10));
        stages.get(0).cancel(true);
        time.pass(Duration.ofSeconds(10));
        assertEquals(2, runs.size());
        assertEquals(1, schedule.metrics().getFailed());
    }

    @Test
    void shutdown_cancelsStagesAfterTheGrace_refusesEdits() {
        AsyncSchedule<String> schedule = started(builder(false).grace(Duration.ofSeconds(4)));
        schedule.put("a", Triggers.every(Duration.ofSeconds(10), Instant.EPOCH));
        time.pass(Duration.ofSeconds(10));
        CompletableFuture<?> shutdown = schedule.shutdown();
        time.pass(Duration.ofSeconds(3));
        assertFalse(stages.get(0).isDone());
        assertFalse(shutdown.isDone());
        assertFalse(schedule.ended().isDone());

        time.pass(Duration.ofSeconds(1));
        assertTrue(stages.get(0).isCancelled());
        assertNull(shutdown.join());
        assertNull(schedule.ended().join());
        assertEquals(List.of("a10"), times());
        IllegalStateException e = assertThrows(IllegalStateException.class, () -> schedule.remove("a"));
        assertEquals("Schedule 'checks' has ended", e.getMessage());
        schedule.close();
    }

    @Test
    void shutdown_whoseFutureIsCancelled_goesOn() {
        AsyncSchedule<String> schedule = started();
        assertTrue(schedule.ended().cancel(true));
        schedule.shutdown().cancel(true);
        time.settle();
        assertNull(schedule.ended().join());
    }

    @Test
    void store_thatCannotBeRead_isReported_failsTheEnd() {
        IOException failure = new IOException("unreadable");
        ScheduleStore<String> store = FailingStore.ofLoads(failure);
        AsyncSchedule<String> schedule = started(builder(true).store(store));
        assertEquals(List.of(store + ": " + failure), failures);
        assertEquals(failure.toString(), failure(schedule.ended()).toString());
        assertEquals(failure.toString(), failure(schedule.shutdown()).toString());
        Throwable cause =
                assertThrows(CompletionException.class, schedule::close).getCause();
        assertEquals(failure.toString(), String.valueOf(cause));
        IllegalStateException refusal =
                assertThrows(IllegalStateException.class, () -> schedule.put("a", Triggers.at(Instant.EPOCH)));
        assertEquals("Schedule 'checks' has ended: " + failure, refusal.getMessage());
        assertEquals(failure.toString(), String.valueOf(refusal.getCause()));
        assertEquals(1, failures.size());
    }

    @Test
    void entries_ofAStore_areThereAfterARestart() {
        ScheduleStore<String> store = ScheduleStores.inMemory();
        Trigger nightly = after -> after.plusSeconds(3_600);
        AsyncSchedule<String> first = started(builder(true).store(store).triggers(Map.of("nightly", nightly)));
        first.put("a", Triggers.every(Duration.ofSeconds(10), Instant.EPOCH), Priority.HIGH);
        first.put("b", Triggers.named("nightly", nightly));
        first.shutdown();
        time.settle();

        AsyncSchedule<String> second = started(builder(true).store(store).triggers(Map.of("nightly", nightly)));
        assertEquals(2, second.size());
        assertEquals(Optional.of(Instant.ofEpochSecond(3_600)), second.nextDue("b"));
        time.pass(Duration.ofSeconds(10));
        assertEquals(Priority.HIGH, runs.get(0).getPriority());
    }

    @Test
    void toString_isThatOfTheScheduleBehindIt() {
        AsyncSchedule<String> schedule = started();
        assertEquals("AsyncSchedule 'checks' (size = 0, running = 0 of 200, dirty = 0)", schedule.toString());
    }

    @Test
    void entries_areListedByPages_withTheirState() {
        AsyncSchedule<String> schedule = started();
        for (String key : List.of("a", "b", "c"))
            schedule.put(key, Triggers.every(Duration.ofSeconds(10), Instant.EPOCH));
        schedule.pause("b");
        time.pass(Duration.ofSeconds(10));
        List<ScheduleEntry<String>> page = schedule.entries(2);
        assertEquals(List.of("a", "b"), page.stream().map(ScheduleEntry::getKey).toList());
        assertEquals(RunOutcome.SUCCEEDED, page.get(0).getLastOutcome());
        assertEquals(Instant.ofEpochSecond(10), page.get(0).getLastRun());
        assertEquals(PausedBy.USER, page.get(1).getPausedBy());
        assertEquals(1, schedule.entries("b", 2).size());
        assertEquals(List.of(), schedule.entries("c", 2));
        assertThrows(IllegalArgumentException.class, () -> schedule.entries("none", 2));
        assertThrows(IllegalArgumentException.class, () -> schedule.entries(0));
    }

    @Test
    void put_withData_ifAbsent_andWithItsDueTimeKept() {
        AsyncSchedule<String> schedule = started();
        byte[] data = "data".getBytes(StandardCharsets.UTF_8);
        assertTrue(schedule.putIfAbsent("a", Triggers.fixedDelay(Duration.ofSeconds(10)), Priority.LOW, data));
        assertFalse(schedule.putIfAbsent("a", Triggers.fixedDelay(Duration.ofSeconds(1)), Priority.LOW));
        time.pass(Duration.ofSeconds(5));
        schedule.put("a", Triggers.fixedDelay(Duration.ofSeconds(60)), Priority.HIGH, data, true);
        assertEquals(Optional.of(Instant.ofEpochSecond(10)), schedule.nextDue("a"));
        time.pass(Duration.ofSeconds(5));
        assertEquals("data", runs.get(0).getText());
        assertEquals(Priority.HIGH, runs.get(0).getPriority());
        byte[] tooLong = new byte[65_537];
        assertThrows(
                IllegalArgumentException.class,
                () -> schedule.put("b", Triggers.at(Instant.EPOCH), Priority.LOW, tooLong, false));
    }

    @Test
    void pauseAll_holdsBackEachRun_untilResumeAll() {
        AsyncSchedule<String> schedule = started();
        schedule.put("a", Triggers.every(Duration.ofSeconds(10), Instant.EPOCH));
        schedule.pauseAll();
        assertTrue(schedule.isPaused());
        time.pass(Duration.ofSeconds(30));
        assertEquals(List.of(), times());
        schedule.resumeAll();
        time.settle();
        assertFalse(schedule.isPaused());
        assertEquals(List.of("a10"), times());
    }

    @Test
    void retry_ofAFailedRun_thenItsEntryStaysListed() {
        RetryPolicy policy = AsyncRetry.builder()
                .maxAttempts(2)
                .constant(Duration.ofSeconds(3))
                .jitter(0)
                .retryIf(e -> true)
                .build()
                .kotlin();
        AsyncSchedule<String> schedule = started(builder(false).retry(key -> key.equals("a") ? policy : null));
        schedule.put("a", Triggers.at(Instant.ofEpochSecond(10)));
        time.pass(Duration.ofSeconds(10));
        stages.get(0).completeExceptionally(new IOException("first"));
        time.pass(Duration.ofSeconds(3));
        assertEquals(List.of(), failures);
        stages.get(1).completeExceptionally(new IOException("second"));
        time.settle();
        assertEquals(List.of("a: java.io.IOException: second"), failures);
        assertEquals(PausedBy.FAILED_RUN, schedule.entries(10).get(0).getPausedBy());
        assertEquals(1, schedule.metrics().getRetried());
    }

    @Test
    void dailyAndWeekly_areDueByTheClocksOfTheirZone() {
        AsyncSchedule<String> schedule = started();
        ZoneId berlin = ZoneId.of("Europe/Berlin");
        schedule.put("daily", Triggers.daily(LocalTime.of(2, 30), berlin));
        schedule.put("weekly", Triggers.weekly(Set.of(DayOfWeek.SATURDAY), LocalTime.of(8, 0), berlin));
        assertEquals(Optional.of(Instant.parse("1970-01-01T01:30:00Z")), schedule.nextDue("daily"));
        assertEquals(Optional.of(Instant.parse("1970-01-03T07:00:00Z")), schedule.nextDue("weekly"));
        assertThrows(IllegalArgumentException.class, () -> Triggers.weekly(Set.of(), LocalTime.NOON, berlin));
    }
}
