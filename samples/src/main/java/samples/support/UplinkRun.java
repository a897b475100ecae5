package samples.support;

import baton.distributed.CoordinationStore;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.ExecutionException;
import java.util.stream.Stream;

/** Starts the processes that share the uplink, kills one, stops one, and reports. */
public final class UplinkRun {
    private static final int JVMS = 4;
    private static final int KILLED = 2;
    private static final int STOPPED = 3;
    private static final long STOP_MILLIS = UplinkJob.LEASE_MILLIS * 3 / 2;

    private final UplinkOptions options;
    private final Class<?> program;
    private final PrintStream out;
    private final PrintStream err;

    /** @param program the class whose {@code main} the processes run. */
    UplinkRun(UplinkOptions options, Class<?> program, PrintStream out, PrintStream err) {
        this.options = options;
        this.program = program;
        this.out = out;
        this.err = err;
    }

    /** The exit code. */
    int run() {
        try {
            if (options.store() != null) return run(options.store());
            Path directory = Files.createTempDirectory("shared-uplink-");
            try {
                return run(UplinkJob.H2_FILE + directory.resolve("permits"));
            } finally {
                remove(directory);
            }
        } catch (IOException | ExecutionException failure) {
            String store = options.store() == null ? "" : options.store();
            err.println("cannot share the uplink: " + new Redaction(store).of("" + failure.getMessage()));
        } catch (InterruptedException stopped) {
            Thread.currentThread().interrupt();
            err.println("interrupted");
        }
        return 1;
    }

    private static void remove(Path directory) throws IOException {
        try (Stream<Path> files = Files.walk(directory)) {
            for (Path file : files.sorted(Comparator.reverseOrder()).toList()) Files.deleteIfExists(file);
        }
    }

    /** This process opens the store first: so it serves a file of H2 to the others, and none of these may. */
    private int run(String place) throws IOException, InterruptedException, ExecutionException {
        List<WorkerProcess> processes = new ArrayList<>();
        try (CoordinationStore store = UplinkJob.open(place);
                UplinkServer server = new UplinkServer()) {
            store.now().toCompletableFuture().get();
            out.println(JVMS + " JVMs share " + UplinkJob.PERMITS + " permits in "
                    + (options.store() == null ? "a file of H2" : "the database given"));
            for (int jvm = 1; jvm <= JVMS; jvm++) {
                processes.add(WorkerProcess.start(program, UplinkJob.toArgs(jvm, server.uri())));
                processes.get(jvm - 1).tell(place);
            }
            for (WorkerProcess process : processes) next(process, UplinkJob.READY);
            return run(server, processes);
        } finally {
            processes.forEach(WorkerProcess::close);
        }
    }

    private int run(UplinkServer server, List<WorkerProcess> processes) throws IOException, InterruptedException {
        int third = options.requests() / 3;
        server.awaitServed(third);
        UplinkTable table = new UplinkTable(JVMS, server.served().get(0).from());

        // The server works on a request of this JVM, so that it dies with a permit.
        server.hold(KILLED, 1);
        processes.get(KILLED - 1).kill();
        long death = System.nanoTime();
        server.release();
        event(table, death, "JVM " + KILLED + " is killed while it is served");
        server.awaitServed(server.served().size() + third);

        // All callers of this JVM are served, so that none of them is just about to send a request.
        server.hold(STOPPED, UplinkJob.CALLERS);
        processes.get(STOPPED - 1).signal("STOP");
        long stop = System.nanoTime();
        server.release();
        event(table, stop, "JVM " + STOPPED + " is stopped while it is served");
        Thread.sleep(STOP_MILLIS);
        processes.get(STOPPED - 1).signal("CONT");
        long goesOn = System.nanoTime();
        event(table, goesOn, "JVM " + STOPPED + " goes on");
        String loss = next(processes.get(STOPPED - 1), UplinkJob.LOST);
        event(table, System.nanoTime(), "JVM " + STOPPED + " is told: " + loss);
        server.awaitServed(Math.max(options.requests(), server.served().size() + third));

        long end = System.nanoTime();
        int told = 1;
        processes.remove(KILLED - 1).close();
        for (WorkerProcess process : processes) process.tell("end");
        for (WorkerProcess process : processes) {
            for (String line = next(process, ""); !line.equals(UplinkJob.DONE); line = next(process, "")) {
                if (line.startsWith(UplinkJob.LOST)) told++;
            }
        }
        table.mark(KILLED, death, end, 'x');
        table.mark(STOPPED, stop, goesOn, '=');
        out.println();
        table.print(out, server.served(), end);
        out.println();
        Table.row(out, "served", server.served().size(), "");
        Table.row(out, "refused", server.refused(), "");
        Table.row(out, "permits lost and told", told, "");
        return server.refused() == 0 ? 0 : 1;
    }

    /** The rest of the next line that is no report. */
    private static String next(WorkerProcess process, String start) throws IOException {
        while (true) {
            String line = process.expect("");
            if (line.startsWith(start)) return line.substring(start.length());
            if (!line.startsWith(UplinkJob.REPORTED)) throw new IOException("a worker process says: " + line);
        }
    }

    private void event(UplinkTable table, long time, String what) {
        out.println(String.format(Locale.ROOT, "  %5.2f s  %s", table.seconds(time), what));
    }
}
