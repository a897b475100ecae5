package samples.support;

import java.nio.file.Files;
import java.nio.file.Path;

/**
 * The command line options of the jobs.
 *
 * @param jobs the number of jobs.
 * @param concurrency the maximum number of jobs that run at a time.
 * @param delay the milliseconds that a response of the server takes.
 * @param failAfter the number of responses after which the server dies.
 * @param svg the file for the timeline, null for the one of {@link #SVG}.
 */
public record JobOptions(int jobs, int concurrency, int delay, int failAfter, Path svg) {
    /** The default file of the timeline. */
    static final Path SVG = Path.of("target", "priority-tasks.svg");

    /** With fewer jobs for each slot, the queue might be empty when an urgent job is scheduled. */
    private static final int JOBS_A_PLACE = 4;

    static CommandOptions command() {
        return new CommandOptions(
                        """
                Runs the jobs of an application, each a request to a server, only so many at a time. First comes a
                backlog of prefetching, analytics and cache warming, and then, one by one, the data of the view and
                refreshes of the token. All of it once without priorities, first come, first served, and once with;
                a few jobs before that warm up and do not count. The server runs in this program, on a free loopback port.
                """,
                        "Exit code: 0 if every job was run both times and the timeline is written, 1 if not, 2 for wrong usage.")
                .count("--jobs", Job.LEAST, 10_000, "how many jobs (default: 200)")
                .count("--concurrency", 1, 100, "jobs that run at a time, at most a fourth of all (default: 3)")
                .count("--delay", 1, 1000, "how many milliseconds an answer of the server takes (default: 10)")
                .count("--fail-after", 1, Integer.MAX_VALUE, "the server dies after N answers (default: never)")
                .path("--svg", "the timeline, written over if it is there (default: target/priority-tasks.svg)");
    }

    static JobOptions of(CommandOptions given) throws UsageException {
        int jobs = given.value("--jobs", 200);
        int concurrency = given.value("--concurrency", 3);
        if (jobs < JOBS_A_PLACE * concurrency) {
            throw new UsageException("too few jobs for a backlog: with --concurrency " + concurrency
                    + " there must be at least " + JOBS_A_PLACE * concurrency + ", not " + jobs);
        }
        Path svg = given.value("--svg", null);
        if (svg != null) checkWritable(svg);
        return new JobOptions(
                jobs, concurrency, given.value("--delay", 10), given.value("--fail-after", Integer.MAX_VALUE), svg);
    }

    /** Checks the file before the work begins, not after it. */
    private static void checkWritable(Path file) throws UsageException {
        Path directory = file.toAbsolutePath().getParent();
        if (Files.isDirectory(file)) throw new UsageException(file + " is a directory, not a file for the timeline");
        if (!Files.isDirectory(directory)) throw new UsageException("there is no directory " + directory);
        if (!Files.isWritable(Files.exists(file) ? file : directory)) throw new UsageException("may not write " + file);
    }
}
