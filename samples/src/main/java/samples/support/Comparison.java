package samples.support;

import java.io.IOException;
import java.io.OutputStream;
import java.io.PrintStream;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;

/** Runs the same jobs twice, without priorities and with, each time against a new server. */
public final class Comparison {
    private static final int WARM_UP = 40;

    private final JobOptions options;
    private final PrintStream out;
    private final PrintStream err;

    Comparison(JobOptions options, PrintStream out, PrintStream err) {
        this.options = options;
        this.out = out;
        this.err = err;
    }

    /**
     * Runs all jobs, each when it is due and at its level, {@code concurrency} at a time, and records them in the
     * sheet. Returns when no job runs any more. After a job has failed, no further job is started.
     */
    @FunctionalInterface
    public interface Worker {
        void run(Timesheet sheet, ApiServer server, int concurrency);
    }

    /** The exit code. */
    int run(Worker worker) throws IOException {
        warmUp(worker);
        Timesheet without = measure("Without priorities, first come, first served", false, worker);
        if (!without.isComplete()) {
            return incomplete(without, "; the run with priorities was not begun, and no timeline is written");
        }
        Timesheet with = measure("With priorities", true, worker);
        if (!with.isComplete()) return incomplete(with, " in the run with priorities; no timeline is written");
        out.println(verdict(without, with));
        return write(Timeline.draw(without, with)) ? 0 : 1;
    }

    /** Warms up: otherwise only the first measured run would load the classes and open the connections. */
    private void warmUp(Worker worker) throws IOException {
        List<Job> jobs = Job.mix(Math.min(options.jobs(), WARM_UP), false);
        PrintStream nowhere = new PrintStream(OutputStream.nullOutputStream());
        try (ApiServer server = ApiServer.start(options.concurrency(), Integer.MAX_VALUE, path -> 1)) {
            worker.run(new Timesheet("Warm-up", jobs, nowhere), server, options.concurrency());
        }
    }

    private Timesheet measure(String title, boolean prioritized, Worker worker) throws IOException {
        // The server refuses requests beyond the concurrency, and a refused request fails its job.
        try (ApiServer server = ApiServer.start(options.concurrency(), options.failAfter(), path -> options.delay())) {
            Timesheet sheet = new Timesheet(title, Job.mix(options.jobs(), prioritized), out);
            worker.run(sheet, server, options.concurrency());
            sheet.print(out, server.peak());
            return sheet;
        }
    }

    private int incomplete(Timesheet sheet, String rest) {
        err.println("incomplete: " + sheet.shortfall() + rest);
        return 1;
    }

    private static String verdict(Timesheet without, Timesheet with) {
        double before = Waits.of(JobKind.TOKEN_REFRESH, without.runs()).mean();
        double now = Waits.of(JobKind.TOKEN_REFRESH, with.runs()).mean();
        String factor = now < before
                ? String.format(Locale.ROOT, "%.1f times less with priorities", before / now)
                : "no less with priorities";
        return String.format(
                Locale.ROOT, "CRITICAL waited %s: %.1f ms on average instead of %.1f ms", factor, now, before);
    }

    private boolean write(String svg) {
        Path file = options.svg();
        try {
            if (file == null) {
                file = JobOptions.SVG;
                Files.createDirectories(file.getParent());
            }
            Files.writeString(file, svg);
            out.println("Timeline: " + file.toAbsolutePath().normalize());
            return true;
        } catch (IOException failure) {
            String why = failure instanceof FileSystemException named && named.getReason() != null
                    ? named.getReason()
                    : failure.toString();
            err.println("cannot write " + file + ": " + why);
            return false;
        }
    }
}
