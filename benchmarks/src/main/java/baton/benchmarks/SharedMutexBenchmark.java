package baton.benchmarks;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.Level;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.TearDown;

/** A shared mutex that is free. For one that processes contend for, see {@link SharedMutexContest}. */
@State(Scope.Benchmark)
@SuppressWarnings("NullAway.Init")
public class SharedMutexBenchmark extends BatonBenchmark {
    @Param({"baton", "reentrantLock", "fileLock"})
    public String lock;

    private Path directory;
    private GuardedCounter counter;

    @Setup(Level.Trial)
    public void open() throws IOException {
        directory = SharedMutexContest.newDirectory();
        counter = GuardedCounter.open(lock, directory.resolve("counter"));
    }

    @Benchmark
    public void uncontended() throws Exception {
        counter.increment();
    }

    @TearDown(Level.Trial)
    public void close() throws IOException {
        counter.close();
        try (var files = Files.list(directory)) {
            for (Path file : files.toList()) Files.delete(file);
        }
        Files.delete(directory);
    }
}
