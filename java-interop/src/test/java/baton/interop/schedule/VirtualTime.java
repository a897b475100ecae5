package baton.interop.schedule;

import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.concurrent.Executor;
import kotlinx.coroutines.ExecutorsKt;
import kotlinx.coroutines.test.TestCoroutineDispatchersKt;
import kotlinx.coroutines.test.TestCoroutineScheduler;

/** A clock that begins at the epoch, and an executor whose delays follow it. The test moves both. */
final class VirtualTime implements InstantSource {
    private final TestCoroutineScheduler scheduler = new TestCoroutineScheduler();

    final Executor executor =
            ExecutorsKt.asExecutor(TestCoroutineDispatchersKt.StandardTestDispatcher(scheduler, null));

    @Override
    public Instant instant() {
        return Instant.ofEpochMilli(scheduler.getCurrentTime());
    }

    /** Lets time pass, what is due at the end included. */
    void pass(Duration time) {
        scheduler.advanceTimeBy(time.toMillis());
        scheduler.runCurrent();
    }

    /** Runs what can run without time passing. */
    void settle() {
        scheduler.runCurrent();
    }
}
