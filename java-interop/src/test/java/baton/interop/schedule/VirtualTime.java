package baton.interop.schedule;

import baton.BatonClock;
import baton.waiting.clock.VirtualClock;
import java.time.Duration;
import java.time.Instant;
import java.util.concurrent.Executor;
import kotlinx.coroutines.ExecutorsKt;
import kotlinx.coroutines.test.TestCoroutineDispatchersKt;
import kotlinx.coroutines.test.TestCoroutineScheduler;
import kotlinx.coroutines.test.TestDispatcher;

/** A clock that begins at the epoch, and an executor whose delays follow it. The test moves both. */
final class VirtualTime {
    private final TestCoroutineScheduler scheduler = new TestCoroutineScheduler();
    private final TestDispatcher dispatcher = TestCoroutineDispatchersKt.StandardTestDispatcher(scheduler, null);

    final Executor executor = ExecutorsKt.asExecutor(dispatcher);

    final BatonClock clock = new VirtualClock(scheduler, dispatcher, Instant.EPOCH);

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
