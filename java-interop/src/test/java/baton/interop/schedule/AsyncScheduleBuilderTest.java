package baton.interop.schedule;

import static baton.interop.Futures.await;
import static baton.interop.Futures.awaitFailure;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import baton.interop.AsyncSchedule;
import baton.interop.AsyncScheduleBuilder;
import baton.interop.ScheduleStores;
import baton.interop.Triggers;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.function.Function;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The builder of schedules, their executors, and a store on disk, in real time. */
class AsyncScheduleBuilderTest {
    private static AsyncScheduleBuilder<String> builder() {
        return AsyncSchedule.builder(due -> CompletableFuture.completedFuture(null));
    }

    private static void assertRefuses(String message, Runnable call) {
        assertEquals(
                message, assertThrows(IllegalArgumentException.class, call::run).getMessage());
    }

    @ParameterizedTest
    @ValueSource(ints = {Integer.MIN_VALUE, -1, 0})
    void counts_belowOne_areRefused(int number) {
        assertRefuses(
                "maxConcurrency = " + number + ", must be at least 1",
                () -> builder().maxConcurrency(number));
        assertRefuses(
                "max = " + number + ", must be at least 1", () -> builder().catchUp(number));
    }

    @Test
    void times_outOfRange_areRefused() {
        Duration below = Duration.ofNanos(999_999);
        assertRefuses(
                "flushEvery = 999.999us, must be at least 1ms", () -> builder().flushEvery(below));
        assertRefuses("resyncEvery = 0s, must be at least 1ms", () -> builder().resyncEvery(Duration.ZERO));
        assertRefuses("grace = -1ms, must be at least 0", () -> builder().grace(Duration.ofMillis(-1)));
        assertThrows(IllegalArgumentException.class, () -> builder().resolution(below));
        assertThrows(IllegalArgumentException.class, () -> Triggers.every(below));
        assertThrows(IllegalArgumentException.class, () -> Triggers.every(below, Instant.EPOCH));
        assertThrows(IllegalArgumentException.class, () -> Triggers.fixedDelay(below));
        assertThrows(IllegalArgumentException.class, () -> Triggers.named(" ", after -> after));
    }

    @Test
    void times_ofTheLongestDuration_areAccepted() {
        Duration longest = Duration.ofSeconds(Long.MAX_VALUE, 999_999_999);
        AsyncSchedule<String> schedule = builder()
                .flushEvery(longest)
                .resyncEvery(longest)
                .grace(longest)
                .maxConcurrency(Integer.MAX_VALUE)
                .catchUp(Integer.MAX_VALUE)
                .start();
        schedule.put("a", Triggers.at(Instant.MAX));
        schedule.put("b", Triggers.at(Instant.MIN));
        schedule.close();
    }

    @Test
    void journal_keepsTheEntriesOverARestart(@TempDir Path directory) {
        Path file = directory.resolve("checks.journal");
        Instant later = Instant.now().plusSeconds(3_600);
        AsyncSchedule<String> first =
                builder().store(ScheduleStores.journal(file)).start();
        first.put("a", Triggers.at(later));
        await(first.flush());
        first.close();

        AsyncSchedule<String> second =
                builder().store(ScheduleStores.journal(file)).start();
        await(second.resync());
        assertTrue(second.nextDue("a").isPresent());
        second.close();
    }

    @Test
    void executor_thatWasShutDown_endsTheScheduleAtItsNextWakeUp() {
        ExecutorService executor = Executors.newSingleThreadExecutor();
        AsyncSchedule<String> schedule = builder().executor(executor).start();
        await(schedule.resync());
        executor.shutdown();
        schedule.put("a", Triggers.at(Instant.now()));
        assertInstanceOf(CancellationException.class, awaitFailure(schedule.ended()));
        assertThrows(CancellationException.class, schedule::close);
    }

    @Test
    void action_thatBlocks_runsOnTheExecutor() {
        ExecutorService executor = Executors.newFixedThreadPool(2, work -> new Thread(work, "checks"));
        CompletableFuture<String> name = new CompletableFuture<>();
        Function<Object, CompletableFuture<?>> action = due -> {
            name.complete(Thread.currentThread().getName());
            return CompletableFuture.completedFuture(null);
        };
        try (AsyncSchedule<String> schedule =
                AsyncSchedule.<String>builder(action::apply).executor(executor).start()) {
            schedule.put("a", Triggers.at(Instant.now()));
            assertTrue(await(name).startsWith("checks"), name::toString);
        } finally {
            executor.shutdown();
        }
    }
}
