package baton.benchmarks;

import java.io.File;
import java.io.IOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Properties;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;

/**
 * Writes the table of the first permit of a program into {@code docs/BENCHMARKS.md}: {@code benchmarks/start ROUNDS
 * JDK...}. The time begins before the process is started, and ends when it has its permit. Each run is a JVM of its own
 * with the defaults of the JDK, whose class path has the program and the jars that it needs. A round runs each program
 * once, so that a change of the machine's load meets all.
 */
public final class StartTable {
    private static final String COMMAND = "benchmarks/start";
    private static final List<String> COROUTINES =
            List.of("kotlinx-coroutines-core-jvm-", "kotlin-stdlib-", "annotations-");
    private static final List<String> BATON = and("baton-primitives-", COROUTINES);
    private static final List<String> BATON_FOR_JAVA = and("baton-java-interop-", and("baton-scheduler-", BATON));

    private static final List<Program> PROGRAMS = List.of(
            new Program("Kotlin: an empty `runBlocking`", "KotlinNothing", COROUTINES),
            new Program("Kotlin: `Semaphore` of kotlinx.coroutines", "KotlinKotlinx", COROUTINES),
            new Program("Kotlin: **Baton**'s `Semaphore`", "KotlinBaton", BATON),
            new Program("Java: an empty `main`", "JavaNothing", List.of()),
            new Program("Java: `Semaphore` of java.util.concurrent", "JavaJdk", List.of()),
            new Program("Java: `Bulkhead` of Failsafe", "JavaFailsafe", List.of("failsafe-")),
            new Program(
                    "Java: `Bulkhead` of resilience4j",
                    "JavaResilience4j",
                    List.of("resilience4j-bulkhead-", "resilience4j-core-", "slf4j-api-")),
            new Program("Java: **Baton**'s `AsyncSemaphore`, a future", "JavaBaton", BATON_FOR_JAVA),
            new Program("Java: **Baton**'s `AsyncSemaphore`, blocking", "JavaBatonBlocking", BATON_FOR_JAVA));

    private StartTable() {}

    /** @param jars how the names of the jars on its class path begin */
    private record Program(String label, String name, List<String> jars) {
        List<Path> files() {
            List<Path> files = new ArrayList<>();
            for (String jar : jars) files.add(onTheClassPath(jar));
            return files;
        }

        private static Path onTheClassPath(String begin) {
            List<Path> found = Stream.of(System.getProperty("java.class.path").split(File.pathSeparator))
                    .map(Path::of)
                    .filter(path -> path.getFileName().toString().matches(begin + "[0-9].*\\.jar"))
                    .toList();
            if (found.size() != 1) throw new IllegalStateException(begin + ": " + found);
            return found.get(0);
        }
    }

    private record Start(double millis, long classes, long ofJars) {}

    public static void main(String[] args) throws Exception {
        Path root = Path.of(args[0]);
        int rounds = Integer.parseInt(args[1]);
        List<Path> jdks = Arrays.stream(args).skip(2).map(Path::of).toList();
        Map<Path, Map<Program, List<Double>>> times = new LinkedHashMap<>();
        Map<Program, Start> counts = new LinkedHashMap<>();
        Path directory = Files.createTempDirectory("start");
        try {
            Path classes = copyPrograms(directory);
            Path log = directory.resolve("classes.log");
            for (Path jdk : jdks) {
                Map<Program, List<Double>> ofJdk = new LinkedHashMap<>();
                times.put(jdk, ofJdk);
                for (Program program : PROGRAMS) { // Not counted in the times: the first one reads the files.
                    Start start = start(jdk, program, classes, log);
                    counts.putIfAbsent(program, start);
                    ofJdk.put(program, new ArrayList<>());
                }
                for (int round = 1; round <= rounds; round++) {
                    for (Program program : PROGRAMS) {
                        ofJdk.get(program)
                                .add(start(jdk, program, classes, null).millis());
                    }
                }
            }
        } finally {
            delete(directory);
        }
        Table.replace(root.resolve("docs/BENCHMARKS.md"), COMMAND, markdown(times, counts));
    }

    /** The class files of the programs alone, and nothing else of the benchmarks. */
    private static Path copyPrograms(Path directory) throws Exception {
        Path home = Path.of(StartTable.class
                .getProtectionDomain()
                .getCodeSource()
                .getLocation()
                .toURI());
        Path from = home.resolve("baton/benchmarks/start");
        Path to = Files.createDirectories(directory.resolve("classes/baton/benchmarks/start"));
        try (DirectoryStream<Path> files = Files.newDirectoryStream(from, "*.class")) {
            for (Path file : files) Files.copy(file, to.resolve(file.getFileName()));
        }
        return directory.resolve("classes");
    }

    /** @param log where the JVM lists the classes that it loads; null: it does not, and the result has no numbers of them */
    private static Start start(Path jdk, Program program, Path classes, Path log) throws Exception {
        List<String> path = new ArrayList<>();
        path.add(classes.toString());
        for (Path file : program.files()) path.add(file.toString());
        List<String> command = new ArrayList<>();
        command.add(jdk.resolve("bin/java").toString());
        if (log != null) command.add("-Xlog:class+load:file=" + log);
        command.addAll(
                List.of("-cp", String.join(File.pathSeparator, path), "baton.benchmarks.start." + program.name()));
        long begin = System.nanoTime();
        Process process = new ProcessBuilder(command)
                .redirectError(ProcessBuilder.Redirect.INHERIT)
                .start();
        int read = process.getInputStream().read();
        double millis = (System.nanoTime() - begin) / 1e6;
        if (!process.waitFor(2, TimeUnit.MINUTES) || read != 1) throw new IllegalStateException(command + " failed");
        if (log == null) return new Start(millis, 0, 0);
        List<String> loaded = Files.readAllLines(log);
        long ofJars = loaded.stream()
                .filter(line -> line.matches(".* source: file:.*\\.jar"))
                .count();
        return new Start(millis, loaded.size(), ofJars);
    }

    private static String markdown(Map<Path, Map<Program, List<Double>>> times, Map<Program, Start> counts)
            throws IOException {
        StringBuilder text = new StringBuilder("| the first permit | jars, KB | classes of the jars / all |");
        for (Path jdk : times.keySet())
            text.append(" JDK ").append(version(jdk)).append(", ms |");
        text.append("\n|---|---|---|").append("---|".repeat(times.size())).append('\n');
        for (Program program : PROGRAMS) {
            Start count = counts.get(program);
            text.append("| ")
                    .append(program.label())
                    .append(" | ")
                    .append(kilobytes(program))
                    .append(" | ")
                    .append(count.ofJars())
                    .append(" / ")
                    .append(count.classes())
                    .append(" |");
            for (Map<Program, List<Double>> ofJdk : times.values()) text.append(range(ofJdk.get(program)));
            text.append('\n');
        }
        return text.toString();
    }

    private static String range(List<Double> millis) {
        List<Double> sorted = millis.stream().sorted().toList();
        double median = sorted.get(sorted.size() / 2);
        return String.format(
                Locale.ROOT, " **%.0f** (%.0f–%.0f) |", median, sorted.get(0), sorted.get(sorted.size() - 1));
    }

    private static String kilobytes(Program program) throws IOException {
        long bytes = 0;
        for (Path file : program.files()) bytes += Files.size(file);
        return bytes == 0 ? "–" : String.format(Locale.ROOT, "%,d", bytes / 1000);
    }

    /** "25" of a JDK 25.0.3. */
    private static String version(Path jdk) throws IOException {
        Properties release = new Properties();
        try (var reader = Files.newBufferedReader(jdk.resolve("release"))) {
            release.load(reader);
        }
        return release.getProperty("JAVA_VERSION").replace("\"", "").replaceAll("[.+].*", "");
    }

    private static List<String> and(String one, List<String> others) {
        return Stream.concat(Stream.of(one), others.stream()).toList();
    }

    private static void delete(Path directory) throws IOException {
        try (Stream<Path> files = Files.walk(directory)) {
            for (Path file : files.sorted(Comparator.reverseOrder()).toList()) Files.delete(file);
        }
    }
}
