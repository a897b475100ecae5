package baton.interop.tasks;

import baton.BatonClock;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;

/** Its timers pass by {@link #advance}. */
class ManualClock implements BatonClock {
    final List<Runnable> timers = new ArrayList<>();

    long nanos;

    @Override
    public Instant instant() {
        return Instant.EPOCH;
    }

    @Override
    public long nanoTime() {
        return nanos;
    }

    @Override
    public AutoCloseable schedule(Duration delay, Runnable task) {
        timers.add(task);
        return () -> timers.remove(task);
    }

    void advance() {
        List.copyOf(timers).forEach(Runnable::run);
    }
}
