package baton.benchmarks;

import java.io.IOException;
import java.io.InputStream;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Objects;
import java.util.concurrent.TimeUnit;

/**
 * Two processes that contend for one lock, and a process that only waits. Prints increments per second of both
 * together, for Baton, {@code FileChannel.lock}, and a robust mutex of pthreads if there is a C compiler; then the CPU
 * time of a process that waits. Each lock runs in every round. Fails if an increment is lost.
 *
 * <pre>{@code
 * java -cp benchmarks/target/benchmarks.jar baton.benchmarks.SharedMutexContest [rounds [seconds [flag of the JVMs]]]
 * }</pre>
 */
public final class SharedMutexContest {
    private static final int BATCH = 64;
    private static final String C_NAME = "robust-mutex";

    private SharedMutexContest() {}

    public static void main(String[] args) throws Exception {
        if (args.length > 0 && args[0].equals("count")) {
            count(args[1], Path.of(args[2]), Integer.parseInt(args[3]));
        } else if (args.length > 0 && args[0].equals("wait")) {
            waitInVain(Path.of(args[1]), Integer.parseInt(args[2]));
        } else {
            int rounds = args.length > 0 ? Integer.parseInt(args[0]) : 3;
            int seconds = args.length > 1 ? Integer.parseInt(args[1]) : 3;
            List<String> flags = args.length > 2 ? List.of(args).subList(2, args.length) : List.of();
            contest(rounds, seconds, flags);
        }
    }

    /** A new directory in memory, where the machine has such a file system. */
    static Path newDirectory() throws IOException {
        Path memory = Path.of("/dev/shm");
        return Files.isDirectory(memory)
                ? Files.createTempDirectory(memory, "contest")
                : Files.createTempDirectory("contest");
    }

    private static void contest(int rounds, int seconds, List<String> flags) throws Exception {
        Path directory = newDirectory();
        try {
            List<List<String>> contestants = new ArrayList<>();
            contestants.add(jvm(flags, "count", "baton"));
            contestants.add(jvm(flags, "count", "fileLock"));
            Path program = compiled(directory);
            if (program != null) contestants.add(List.of(program.toString(), "count", C_NAME));
            for (int round = 1; round <= rounds; round++) {
                for (List<String> command : contestants) {
                    Path file = directory.resolve(command.get(command.size() - 1) + round);
                    contend(command, file, seconds);
                }
            }
            try (var counter = new GuardedCounter.InRegion(directory.resolve("waited"))) {
                var unused = counter.mutex().lockBlocking(); // The end of the region gives it up.
                Process waiter = start(jvm(flags, "wait"), directory.resolve("waited"), seconds);
                run(List.of(waiter)).forEach(System.out::println);
            }
        } finally {
            try (var files = Files.list(directory)) {
                for (Path file : files.toList()) Files.delete(file);
            }
            Files.delete(directory);
        }
    }

    private static List<String> jvm(List<String> flags, String... call) {
        List<String> command = new ArrayList<>();
        command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
        command.addAll(List.of("-XX:+UseSerialGC", "-Xmx64m", "-cp", System.getProperty("java.class.path")));
        command.addAll(flags);
        command.add(SharedMutexContest.class.getName());
        command.addAll(List.of(call));
        return command;
    }

    private static Process start(List<String> command, Path file, int seconds) throws IOException {
        List<String> whole = new ArrayList<>(command);
        whole.addAll(List.of(file.toString(), Integer.toString(seconds)));
        return new ProcessBuilder(whole)
                .redirectError(ProcessBuilder.Redirect.INHERIT)
                .start();
    }

    private static List<String> run(List<Process> processes) throws Exception {
        List<String> answers = new ArrayList<>();
        for (Process process : processes) {
            answers.add(new String(process.getInputStream().readAllBytes()).strip());
            if (process.waitFor() != 0) throw new IllegalStateException("exit code " + process.exitValue());
        }
        return answers;
    }

    private static void contend(List<String> command, Path file, int seconds) throws Exception {
        List<String> answers = run(List.of(start(command, file, seconds), start(command, file, seconds)));
        long sum = 0;
        double perSecond = 0;
        long value = 0;
        for (String answer : answers) {
            String[] fields = answer.split(" ");
            sum += Long.parseLong(fields[0]);
            perSecond += Long.parseLong(fields[0]) * 1e9 / Long.parseLong(fields[1]);
            value = Math.max(value, Long.parseLong(fields[2]));
        }
        String lock = command.get(command.size() - 1);
        System.out.printf(Locale.ROOT, "%-14s %,14.0f increments/s%n", lock, perSecond);
        if (value != sum) throw new IllegalStateException(lock + " lost increments: " + value + " of " + sum);
    }

    /** Prints how often, in how many nanoseconds, and the counter when this process has ended its part. */
    private static void count(String lock, Path file, int seconds) throws Exception {
        try (GuardedCounter counter = GuardedCounter.open(lock, file)) {
            for (int i = 0; i < BATCH; i++) counter.increment(); // Loads the classes.
            long start = System.nanoTime();
            long end = start + TimeUnit.SECONDS.toNanos(seconds);
            long increments = BATCH;
            do {
                for (int i = 0; i < BATCH; i++) counter.increment();
                increments += BATCH;
            } while (System.nanoTime() - end < 0);
            long nanos = System.nanoTime() - start;
            System.out.println(increments + " " + nanos + " " + counter.value());
        }
    }

    /** Waits for a lock that another process keeps, and prints how much of a core that took. */
    private static void waitInVain(Path file, int seconds) throws Exception {
        var process = (com.sun.management.OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean();
        try (var counter = new GuardedCounter.InRegion(file)) {
            // The first second loads classes, which is no part of the wait.
            var unused = counter.mutex().lockBlocking(Duration.ofSeconds(1));
            long start = System.nanoTime();
            long cpuStart = process.getProcessCpuTime();
            var lock = counter.mutex().lockBlocking(Duration.ofSeconds(seconds));
            long cpu = process.getProcessCpuTime() - cpuStart;
            if (lock != null) throw new IllegalStateException("locked what another process holds");
            double share = 100.0 * cpu / (System.nanoTime() - start);
            System.out.printf(Locale.ROOT, "%s: a waiting process uses %.2f %% of a core%n", counter.waiting(), share);
        }
    }

    /** The program of pthreads; null without a C compiler. */
    private static Path compiled(Path directory) throws Exception {
        Path source = directory.resolve(C_NAME + ".c");
        Path program = directory.resolve(C_NAME);
        try (InputStream code = SharedMutexContest.class.getResourceAsStream(C_NAME + ".c")) {
            Files.copy(Objects.requireNonNull(code), source);
        }
        try {
            Process compiler = new ProcessBuilder("cc", "-O2", "-pthread", "-o", program.toString(), source.toString())
                    .inheritIO()
                    .start();
            return compiler.waitFor() == 0 ? program : null;
        } catch (IOException noCompiler) {
            return null;
        }
    }
}
