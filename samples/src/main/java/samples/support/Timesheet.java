package samples.support;

import java.io.PrintStream;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.CompletableFuture;

/** When each job was scheduled, started and ended. All methods may be called from any thread. */
public final class Timesheet {
    private final String title;
    private final List<Job> jobs;
    private final Progress progress;
    private final long origin = System.nanoTime();
    private final long[] scheduled;
    private final long[] started;
    private final int[] slots;
    private final BitSet busy = new BitSet();
    private final List<JobRun> runs = new ArrayList<>();
    private final Failures failures = new Failures();

    /** The future that completes when the {@code next} job is due. */
    private CompletableFuture<Void> due = new CompletableFuture<>();

    private Job next;

    Timesheet(String title, List<Job> jobs, PrintStream out) {
        this.title = title;
        this.jobs = List.copyOf(jobs);
        progress = Progress.on(out);
        scheduled = new long[jobs.size()];
        started = new long[jobs.size()];
        slots = new int[jobs.size()];
    }

    /** All jobs, in the order in which they are scheduled. */
    public List<Job> jobs() {
        return jobs;
    }

    /**
     * Completes when {@code job} is to be scheduled; the jobs before it have been. After a failure it completes at
     * once, because the code that schedules the other jobs must not wait for ever.
     */
    public synchronized CompletableFuture<Void> due(Job job) {
        if (isDue(job)) return CompletableFuture.completedFuture(null);
        next = job;
        due = new CompletableFuture<>();
        return due;
    }

    private boolean isDue(Job job) {
        return runs.size() >= job.after() || failures.count() > 0;
    }

    /** The job is about to be scheduled. */
    public synchronized void scheduled(Job job) {
        scheduled[job.number()] = now();
    }

    /** The job has been started. */
    public synchronized void started(Job job) {
        started[job.number()] = now();
        int slot = busy.nextClearBit(0);
        busy.set(slot);
        slots[job.number()] = slot;
    }

    /** The job has been run. Called before its slot is free for another job. */
    public void ended(Job job) {
        CompletableFuture<Void> ready;
        synchronized (this) {
            int number = job.number();
            busy.clear(slots[number]);
            runs.add(new JobRun(job, slots[number], scheduled[number], started[number], now()));
            progress.show(runs.size() == jobs.size(), () -> runs.size() + " of " + jobs.size() + " jobs");
            ready = dueNow();
        }
        ready.complete(null);
    }

    /** The job has failed. Called before its slot is free for another job. */
    public void failed(Job job, Throwable failure) {
        CompletableFuture<Void> ready;
        synchronized (this) {
            busy.clear(slots[job.number()]);
            failures.add(failure);
            ready = dueNow();
        }
        ready.complete(null);
    }

    /** The future that the caller completes after it has released the lock; an unused one if no job is due. */
    private CompletableFuture<Void> dueNow() {
        return next != null && isDue(next) ? due : new CompletableFuture<>();
    }

    private long now() {
        return System.nanoTime() - origin;
    }

    /** The jobs that were run, in the order of their starts. */
    synchronized List<JobRun> runs() {
        return runs.stream().sorted(Comparator.comparingLong(JobRun::started)).toList();
    }

    String title() {
        return title;
    }

    /** Whether every job was run. */
    synchronized boolean isComplete() {
        return runs.size() == jobs.size();
    }

    /** One line: how many jobs were not run, and why. */
    synchronized String shortfall() {
        int failed = failures.count();
        int notRun = jobs.size() - runs.size() - failed;
        StringBuilder line = new StringBuilder("ran " + runs.size() + " of " + jobs.size() + " jobs");
        if (failed > 0) line.append(", ").append(failed).append(" failed: ").append(failures);
        if (notRun > 0) line.append(", ").append(notRun).append(" not run any more");
        return line.toString();
    }

    /** The waits, level by level; {@code peak} is the greatest number of jobs that the server has seen at a time. */
    synchronized void print(PrintStream out, int peak) {
        double seconds = now() / 1e9;
        progress.clear();
        out.println(title);
        out.println("  level     job             jobs    run     mean wait  longest wait");
        for (JobKind kind : JobKind.values()) {
            long all = jobs.stream().filter(job -> job.kind() == kind).count();
            Waits waits = Waits.of(kind, runs);
            out.println(String.format(
                    Locale.ROOT,
                    "  %-9s %-13s %6d %6d %13s %13s",
                    kind.priority(),
                    kind.label(),
                    all,
                    waits.ran(),
                    milliseconds(waits.mean()),
                    milliseconds(waits.longest())));
        }
        out.println(String.format(Locale.ROOT, "  %-23s %6d %6d", "all", jobs.size(), runs.size()));
        out.println(String.format(
                Locale.ROOT, "  elapsed %.2f s, at most %d jobs at a time, seen by the server", seconds, peak));
        out.println();
    }

    private static String milliseconds(double time) {
        return Double.isNaN(time) ? "-" : String.format(Locale.ROOT, "%.1f ms", time);
    }
}
