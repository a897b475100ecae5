package samples.support;

import java.io.BufferedReader;
import java.io.File;
import java.io.IOException;
import java.net.URISyntaxException;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;

/** A worker process: another JVM, with the class path of this one. */
final class WorkerProcess implements AutoCloseable {
    /** A process that hangs must not keep the sample from ending. */
    private static final int PATIENCE_SECONDS = 600;

    /** It runs too briefly for the optimizing compiler to pay. */
    private static final List<String> FLAGS =
            List.of("-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC", "-XX:-UsePerfData", "-Xshare:auto", "-Xmx64m");

    private static final int FIRST_WITH_FUTEX = 22;

    private final Process process;
    private final BufferedReader lines;

    private WorkerProcess(Process process) {
        this.process = process;
        this.lines = process.inputReader();
    }

    /** Starts a JVM that runs the sample {@code program}. */
    static WorkerProcess start(Class<?> program, List<String> args) throws IOException {
        List<String> command = new ArrayList<>();
        command.add(java());
        command.addAll(FLAGS);
        // With it the kernel wakes the processes that wait for a lock.
        if (Runtime.version().feature() >= FIRST_WITH_FUTEX) command.add("--enable-native-access=ALL-UNNAMED");
        command.addAll(List.of("-cp", classPath(program), program.getName()));
        command.addAll(args);
        Process process = new ProcessBuilder(command).redirectErrorStream(true).start();
        CompletableFuture.delayedExecutor(PATIENCE_SECONDS, TimeUnit.SECONDS).execute(process::destroyForcibly);
        return new WorkerProcess(process);
    }

    private static String java() {
        return ProcessHandle.current()
                .info()
                .command()
                .filter(command -> Path.of(command).getFileName().toString().startsWith("java"))
                .orElse(Path.of(System.getProperty("java.home"), "bin", "java").toString());
    }

    /** Maven runs a sample in its own JVM, with a class loader for it. */
    private static String classPath(Class<?> program) throws IOException {
        if (!(program.getClassLoader() instanceof URLClassLoader loader)) return System.getProperty("java.class.path");
        List<String> files = new ArrayList<>();
        try {
            for (URL url : loader.getURLs()) files.add(Path.of(url.toURI()).toString());
        } catch (URISyntaxException impossible) {
            throw new IOException("the class path has an entry that is no file", impossible);
        }
        return String.join(File.pathSeparator, files);
    }

    /** The rest of the next line, which begins with {@code start}. */
    String expect(String start) throws IOException {
        String line = lines.readLine();
        if (line != null && line.startsWith(start)) return line.substring(start.length());
        throw new IOException("a worker process " + (line == null ? "has ended" : "says: " + line));
    }

    /** The next line; null at the end. */
    String readLine() throws IOException {
        return lines.readLine();
    }

    /** Sends a line. */
    void tell(String line) throws IOException {
        process.outputWriter().write(line + '\n');
        process.outputWriter().flush();
    }

    /** Sends the signal of that name. */
    void signal(String name) throws IOException, InterruptedException {
        int code = new ProcessBuilder("kill", "-" + name, "" + process.pid())
                .start()
                .waitFor();
        if (code != 0) throw new IOException("cannot send the signal " + name);
    }

    /** Kills the process, and waits for its end. Returns its number in the system. */
    long kill() throws InterruptedException {
        process.destroyForcibly().waitFor();
        return process.pid();
    }

    @Override
    public void close() {
        process.destroyForcibly();
    }
}
