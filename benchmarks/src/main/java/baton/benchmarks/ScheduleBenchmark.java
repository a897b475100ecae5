package baton.benchmarks;

import io.netty.util.HashedWheelTimer;
import io.netty.util.Timeout;
import java.util.SplittableRandom;
import java.util.concurrent.TimeUnit;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.Level;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.TearDown;

/** The index of a schedule: the step of its loop, and the edit of an entry. Periods are from two to ten minutes. */
@SuppressWarnings("NullAway.Init")
public class ScheduleBenchmark extends BatonBenchmark {
    private static long delay(SplittableRandom random) {
        return random.nextLong(120_000_000L, 600_000_000L);
    }

    @State(Scope.Thread)
    public static class Index {
        @Param({"baton", "sortedArray", "skipList", "priorityQueue"})
        public String structure;

        @Param({"1000", "10000", "100000", "1000000"})
        public int entries;

        private final SplittableRandom random = new SplittableRandom(1);
        private DueTimes times;

        @Setup(Level.Trial)
        public void fill() {
            times = DueTimes.of(structure, entries);
            for (int entry = 0; entry < entries; entry++) times.set(entry, delay(random));
        }
    }

    /** A wheel has no first entry: its thread takes all entries that are due. So only its edits are measured. */
    @State(Scope.Thread)
    public static class Wheel {
        @Param({"1000", "10000", "100000", "1000000"})
        public int entries;

        private final SplittableRandom random = new SplittableRandom(1);
        private final HashedWheelTimer timer = new HashedWheelTimer();
        private Timeout[] timeouts;

        @Setup(Level.Trial)
        public void fill() {
            timeouts = new Timeout[entries];
            for (int entry = 0; entry < entries; entry++) timeouts[entry] = newTimeout();
        }

        @TearDown(Level.Trial)
        public void stop() {
            timer.stop();
        }

        private Timeout newTimeout() {
            return timer.newTimeout(timeout -> {}, delay(random), TimeUnit.MICROSECONDS);
        }
    }

    /** The entry that is due first is due again after its period. */
    @Benchmark
    public void fire(Index index) {
        index.times.postponeFirst(delay(index.random));
    }

    /** Any entry gets another due time. */
    @Benchmark
    public void edit(Index index) {
        index.times.set(index.random.nextInt(index.entries), delay(index.random));
    }

    /** As {@link #edit}, of Netty's timer. */
    @Benchmark
    public boolean editWheel(Wheel wheel) {
        int entry = wheel.random.nextInt(wheel.entries);
        boolean wasWaiting = wheel.timeouts[entry].cancel();
        wheel.timeouts[entry] = wheel.newTimeout();
        return wasWaiting;
    }
}
