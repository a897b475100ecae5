package samples.support;

import baton.resilience.RetryAttempt;
import java.io.IOException;
import java.io.PrintStream;
import java.net.http.HttpTimeoutException;
import java.util.List;
import java.util.Locale;

/** Counts what an import does. All methods may be called from any thread. */
public final class ImportReport {
    private final int records;
    private final ImportServer server;
    private final HeapMeter heap;
    private final Progress progress;
    private final long started = System.nanoTime();
    private final Failures failures = new Failures();
    private final Failures retries = new Failures();
    private int answered;
    private int saved;
    private int chunks;

    ImportReport(int records, ImportServer server, HeapMeter heap, PrintStream out) {
        this.records = records;
        this.server = server;
        this.heap = heap;
        progress = Progress.on(out);
    }

    /** All records are under way. */
    public void allStarted() {
        heap.look();
    }

    /** The server has answered a record with 200. */
    public void answered() {
        boolean isHalf;
        synchronized (this) {
            answered++;
            isHalf = answered == records / 2;
            show();
        }
        if (isHalf) heap.look();
    }

    /** The answers of a chunk are saved. */
    public synchronized void saved(List<String> answers) {
        chunks++;
        saved += answers.size();
    }

    /** A record, or the whole import, has failed. */
    public synchronized void failed(Throwable failure) {
        add(failures, failure);
        show();
    }

    /** Another attempt for a record is to follow. */
    public synchronized void retried(RetryAttempt next) {
        add(retries, next.getLastFailure());
        show();
    }

    private static void add(Failures failures, Throwable failure) {
        Throwable cause = Failures.cause(failure);
        if (cause instanceof RefusedException) failures.add(cause.getMessage());
        else if (cause instanceof HttpTimeoutException) failures.add("timed out");
        else if (cause instanceof IOException) failures.add("connection lost");
        else failures.add(cause);
    }

    private void show() {
        progress.show(
                answered + failures.count() == records,
                () -> String.format(
                        Locale.ROOT,
                        "%d of %d records arrived, %d failed, %d retries, %d MB",
                        answered,
                        records,
                        failures.count(),
                        retries.count(),
                        heap.peak() >> 20));
    }

    /** Whether every record is stored once, and its answer is saved. */
    synchronized boolean isComplete() {
        return server.stored() == records && saved == records && failures.count() == 0;
    }

    /** One line: how many records have not arrived, and why. */
    synchronized String shortfall() {
        return server.stored() + " of " + records + " records arrived" + (failures.count() > 0 ? ": " + failures : "");
    }

    /** Prints a table. */
    synchronized void print(PrintStream out, String title) {
        double seconds = (System.nanoTime() - started) / 1e9;
        progress.clear();
        out.println(title);
        Table.row(out, "records", records, "");
        Table.row(out, "arrived exactly once", server.stored(), "counted by the server");
        Table.row(
                out,
                "answered with 200",
                answered,
                chunks > 0 ? saved + " saved, in " + chunks + (chunks == 1 ? " chunk" : " chunks") : "");
        Table.row(out, "failed", failures.count(), failures.toString());
        Table.row(out, "retries", retries.count(), retries.toString());
        Table.row(out, "  of arrived records", server.again(), "the answer was lost, the server knew the record");
        Table.row(out, "  too early", server.early(), "before the Retry-After of the last answer");
        Table.row(
                out,
                "peak weight in flight",
                server.peak(),
                "seen by the server, which refuses above " + ImportServer.CAPACITY);
        Table.row(out, "peak heap", heap.peak() >> 20, "MB, after collections, without what was there before");
        out.printf(Locale.ROOT, "  %-22s %8.2f  s%n", "elapsed", seconds);
        out.println();
    }
}
