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
    private final List<Turn> turns = new ArrayList<>();
    private final Failures failures = new Failures();

    /** What waits to be scheduled, if anything, and for which job. */
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

    /** All, in the order in which they are to be scheduled. */
    public List<Job> jobs() {
        return jobs;
    }

    /**
     * Completes when {@code job} is to be scheduled, those before it having been. After a failure that is at once: who
     * waits to schedule the others must not wait for ever.
     */
    public synchronized CompletableFuture<Void> due(Job job) {
        if (isDue(job)) return CompletableFuture.completedFuture(null);
        next = job;
        due = new CompletableFuture<>();
        return due;
    }

    private boolean isDue(Job job) {
        return turns.size() >= job.after() || failures.count() > 0;
    }

    /** It is about to be scheduled. */
    public synchronized void scheduled(Job job) {
        scheduled[job.number()] = now();
    }

    /** Its turn has come. */
    public synchronized void started(Job job) {
        started[job.number()] = now();
        int slot = busy.nextClearBit(0);
        busy.set(slot);
        slots[job.number()] = slot;
    }

    /** It has been run. Before its place is given to another. */
    public void ended(Job job) {
        CompletableFuture<Void> ready;
        synchronized (this) {
            int number = job.number();
            busy.clear(slots[number]);
            turns.add(new Turn(job, slots[number], scheduled[number], started[number], now()));
            progress.show(turns.size() == jobs.size(), () -> turns.size() + " of " + jobs.size() + " jobs");
            ready = dueNow();
        }
        ready.complete(null);
    }

    /** It could not be run. Before its place is given to another. */
    public void failed(Job job, Throwable failure) {
        CompletableFuture<Void> ready;
        synchronized (this) {
            busy.clear(slots[job.number()]);
            failures.add(failure);
            ready = dueNow();
        }
        ready.complete(null);
    }

    /** What is to be completed without the lock; nobody waits for it if nothing is due. */
    private CompletableFuture<Void> dueNow() {
        return next != null && isDue(next) ? due : new CompletableFuture<>();
    }

    private long now() {
        return System.nanoTime() - origin;
    }

    /** Those that were run, in the order of their starts. */
    synchronized List<Turn> turns() {
        return turns.stream().sorted(Comparator.comparingLong(Turn::started)).toList();
    }

    String title() {
        return title;
    }

    /** Whether every job was run. */
    synchronized boolean isComplete() {
        return turns.size() == jobs.size();
    }

    /** One line that says what was not run, and why. */
    synchronized String shortfall() {
        int failed = failures.count();
        int notRun = jobs.size() - turns.size() - failed;
        StringBuilder line = new StringBuilder("ran " + turns.size() + " of " + jobs.size() + " jobs");
        if (failed > 0) line.append(", ").append(failed).append(" failed: ").append(failures);
        if (notRun > 0) line.append(", ").append(notRun).append(" not run any more");
        return line.toString();
    }

    /** The waits, level by level; {@code peak} is what the server saw. */
    synchronized void print(PrintStream out, int peak) {
        double seconds = now() / 1e9;
        progress.clear();
        out.println(title);
        out.println("  level     job             jobs    run     mean wait  longest wait");
        for (JobKind kind : JobKind.values()) {
            long all = jobs.stream().filter(job -> job.kind() == kind).count();
            Waits waits = Waits.of(kind, turns);
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
        out.println(String.format(Locale.ROOT, "  %-23s %6d %6d", "all", jobs.size(), turns.size()));
        out.println(String.format(
                Locale.ROOT, "  elapsed %.2f s, at most %d jobs at a time, seen by the server", seconds, peak));
        out.println();
    }

    private static String milliseconds(double time) {
        return Double.isNaN(time) ? "-" : String.format(Locale.ROOT, "%.1f ms", time);
    }
}
