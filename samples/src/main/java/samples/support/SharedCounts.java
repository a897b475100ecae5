package samples.support;

import baton.interop.AsyncSharedRegion;
import baton.shared.SharedRegionException;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/** Starts the processes that count, and reports: with a lock, with one whose holder is killed, and without a lock. */
public final class SharedCounts {
    private static final Path MEMORY = Path.of("/dev/shm");

    private final CounterOptions options;
    private final Class<?> program;
    private final PrintStream out;
    private final PrintStream err;

    /** @param program the class whose {@code main} the processes run. */
    SharedCounts(CounterOptions options, Class<?> program, PrintStream out, PrintStream err) {
        this.options = options;
        this.program = program;
        this.out = out;
        this.err = err;
    }

    /** The exit code. */
    int run() {
        try (RegionFile file = RegionFile.create();
                AsyncSharedRegion region = AsyncSharedRegion.open(file.path())) {
            out.println(options.processes() + " processes add 1 to a counter, " + options.increments() + " times each");
            out.println("  in " + file.path());
            boolean isRight = countWithLock(region, file.path());
            boolean isRepaired = countDespiteDeath(region, file.path());
            countWithoutLock(region, file.path());
            return isRight && isRepaired ? 0 : 1;
        } catch (IOException | SharedRegionException failure) {
            err.println("cannot count: " + failure.getMessage());
        } catch (InterruptedException stopped) {
            Thread.currentThread().interrupt();
            err.println("interrupted");
        }
        return 1;
    }

    /** The directory of a region and its side file, removed at the end; if the user presses Ctrl-C, too. */
    private record RegionFile(Path directory, Thread hook) implements AutoCloseable {
        static RegionFile create() throws IOException {
            Path parent = Files.isWritable(MEMORY) ? MEMORY : Path.of(System.getProperty("java.io.tmpdir"));
            Path directory = Files.createTempDirectory(parent, "shared-counter-");
            Thread hook = new Thread(() -> remove(directory), "remove-region");
            Runtime.getRuntime().addShutdownHook(hook);
            return new RegionFile(directory, hook);
        }

        Path path() {
            return directory.resolve("region");
        }

        @Override
        public void close() {
            remove(directory);
            try {
                Runtime.getRuntime().removeShutdownHook(hook);
            } catch (IllegalStateException exiting) {
                // It is running.
            }
        }

        private static void remove(Path directory) {
            for (String name : List.of("region", ".region.live", "")) {
                var unused = directory.resolve(name).toFile().delete();
            }
        }
    }

    private interface Counting {
        /** Returns when all processes have counted. */
        void run(List<CounterProcess> processes) throws IOException, InterruptedException;
    }

    private boolean countWithLock(AsyncSharedRegion region, Path file) throws IOException, InterruptedException {
        return count("With a lock", region, "locked", processes -> {
            startAll(file, "locked", true, CounterJob.NEVER, processes);
            for (CounterProcess process : processes) process.repairs();
        });
    }

    private void countWithoutLock(AsyncSharedRegion region, Path file) throws IOException, InterruptedException {
        count("Without a lock", region, "unlocked", processes -> {
            startAll(file, "unlocked", false, CounterJob.NEVER, processes);
            for (CounterProcess process : processes) process.repairs();
        });
    }

    /** The last process is killed in the middle of its increments, and another one does the rest. */
    private boolean countDespiteDeath(AsyncSharedRegion region, Path file) throws IOException, InterruptedException {
        int half = options.increments() / 2;
        List<String> repairs = new ArrayList<>();
        boolean isRight =
                count("With a lock, and a process is killed while it holds it", region, "abandoned", processes -> {
                    startAll(file, "abandoned", true, half, processes);
                    CounterProcess victim = processes.get(options.processes() - 1);
                    victim.expect(CounterJob.HOLDING);
                    long pid = victim.kill();
                    Table.row(out, "killed", 1, "process " + pid + ", after " + half + " increments");
                    CounterJob rest = new CounterJob(
                            file,
                            "abandoned",
                            options.processes(),
                            options.processes() - 1,
                            options.increments() - half,
                            true,
                            CounterJob.NEVER);
                    processes.set(options.processes() - 1, start(rest));
                    for (CounterProcess process : processes) repairs.addAll(process.repairs());
                    Table.row(out, "told of the death", repairs.size(), noteOf(repairs));
                });
        return isRight && repairs.size() == 1;
    }

    private static String noteOf(List<String> repairs) {
        if (repairs.isEmpty()) return "";
        String[] sums = repairs.get(0).split(" ");
        return "the next holder, which repaired the counter: " + sums[0] + " became " + sums[1];
    }

    private void startAll(
            Path file, String counter, boolean isLocked, int lastIsKilledAfter, List<CounterProcess> processes)
            throws IOException {
        for (int number = 0; number < options.processes(); number++) {
            boolean isLast = number == options.processes() - 1;
            int killedAfter = isLast ? lastIsKilledAfter : CounterJob.NEVER;
            processes.add(CounterProcess.start(
                    program,
                    new CounterJob(
                            file, counter, options.processes(), number, options.increments(), isLocked, killedAfter)));
        }
        String waitMode = "";
        for (CounterProcess process : processes) waitMode = process.expect(CounterJob.READY);
        if (isLocked) out.println("  waiting for the lock: " + waitMode);
        for (CounterProcess process : processes) process.begin();
    }

    private CounterProcess start(CounterJob job) throws IOException {
        CounterProcess process = CounterProcess.start(program, job);
        process.expect(CounterJob.READY);
        process.begin();
        return process;
    }

    /** Returns whether no increment is missing. */
    private boolean count(String title, AsyncSharedRegion region, String counter, Counting counting)
            throws IOException, InterruptedException {
        out.println();
        out.println(title);
        List<CounterProcess> processes = new ArrayList<>();
        try {
            counting.run(processes);
        } finally {
            processes.forEach(CounterProcess::close);
        }
        long expected = (long) options.processes() * options.increments();
        long counted = region.bytes(counter, Long.BYTES).getLong(0);
        Table.row(out, "expected", expected, "");
        Table.row(out, "counted", counted, "");
        Table.row(out, "missing", expected - counted, "");
        return counted == expected;
    }
}
