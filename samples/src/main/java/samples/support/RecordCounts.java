package samples.support;

import baton.resilience.RetryAttempt;
import java.io.PrintStream;
import java.util.Locale;

/** Counts how the records of an import end, and shows the progress. All methods may be called from any thread. */
public abstract class RecordCounts {
    final int records;
    final Failures failures = new Failures();
    final Failures retries = new Failures();
    private final Progress progress;
    private final long started = System.nanoTime();
    private int answered;

    RecordCounts(int records, PrintStream out) {
        this.records = records;
        progress = Progress.on(out);
    }

    /** The server has answered a record with 200. */
    public void answered() {
        int count;
        synchronized (this) {
            count = ++answered;
            show();
        }
        onAnswer(count);
    }

    /** A record, or the whole import, has failed. */
    public synchronized void failed(Throwable failure) {
        failures.addCall(failure);
        show();
    }

    /** Another attempt for a record is to follow. */
    public synchronized void retried(RetryAttempt next) {
        retries.addCall(next.getLastFailure());
        show();
    }

    /** Called without a lock when {@code count} records are answered. */
    void onAnswer(int count) {}

    /** The end of the line that shows the progress. */
    String progressNote() {
        return "";
    }

    synchronized int answeredCount() {
        return answered;
    }

    private void show() {
        progress.show(
                answered + failures.count() == records,
                () -> String.format(
                        Locale.ROOT,
                        "%d of %d records arrived, %d failed, %d retries%s",
                        answered,
                        records,
                        failures.count(),
                        retries.count(),
                        progressNote()));
    }

    /** Begins the table. */
    void printArrived(PrintStream out, String title, int stored) {
        progress.clear();
        out.println(title);
        Table.row(out, "records", records, "");
        Table.row(out, "arrived exactly once", stored, "counted by the server");
    }

    void printFailures(PrintStream out) {
        Table.row(out, "failed", failures.count(), failures.toString());
        Table.row(out, "retries", retries.count(), retries.toString());
    }

    /** Ends the table. */
    void printTime(PrintStream out) {
        Table.elapsed(out, (System.nanoTime() - started) / 1e9);
        out.println();
    }
}
