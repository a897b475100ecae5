package samples.support;

import baton.sync.SemaphoreClosedException;
import java.io.PrintStream;
import java.util.Locale;

/** Counts the outcomes of the items. All methods may be called from any thread. */
public final class Tally {
    private final int items;
    private final Progress progress;
    private final long started = System.nanoTime();
    private final Failures failures = new Failures();
    private int ok;
    private int refused;
    private int notTried;

    public Tally(int items, PrintStream out) {
        this.items = items;
        progress = Progress.on(out);
    }

    /** The server answered an item with {@code status}. */
    public synchronized void answered(int status) {
        switch (status) {
            case 200 -> ok++;
            case 429 -> refused++;
            default -> failures.add("HTTP " + status);
        }
        show();
    }

    /** An item had no response. If {@code failure} is that the semaphore is closed, there was no request either. */
    public synchronized void failed(Throwable failure) {
        if (Failures.cause(failure) instanceof SemaphoreClosedException) notTried++;
        else failures.add(failure);
        show();
    }

    private void show() {
        int failed = failures.count();
        int done = ok + refused + failed + notTried;
        progress.show(
                done == items,
                () -> String.format(
                        Locale.ROOT,
                        "%d of %d items, %d fetched, %d refused, %d failed",
                        done,
                        items,
                        ok,
                        refused,
                        failed));
    }

    /** Whether every item was fetched. */
    public synchronized boolean isClean() {
        return ok == items;
    }

    /** One line: how many items were not fetched, and why. */
    public synchronized String shortfall() {
        StringBuilder line = new StringBuilder(String.format(Locale.ROOT, "fetched %d of %d items", ok, items));
        if (refused > 0) line.append(", ").append(refused).append(" refused with 429");
        int failed = failures.count();
        if (failed > 0) line.append(", ").append(failed).append(" failed: ").append(failures);
        if (notTried > 0) line.append(", ").append(notTried).append(" not tried any more");
        return line.toString();
    }

    /** Prints a table; {@code peak} is the greatest number of requests that the server has seen in flight. */
    public synchronized void print(PrintStream out, String title, int peak) {
        double seconds = (System.nanoTime() - started) / 1e9;
        progress.clear();
        out.println(title);
        Table.row(out, "items", items, "");
        Table.row(out, "200 OK", ok, "");
        Table.row(out, "429 Too Many Requests", refused, "");
        Table.row(out, "other failures", failures.count(), failures.toString());
        if (notTried > 0) Table.row(out, "not tried any more", notTried, "");
        Table.row(out, "peak in flight", peak, "seen by the server");
        out.printf(Locale.ROOT, "  %-22s %8.2f  s%n", "elapsed", seconds);
        Table.row(out, "requests per second", Math.round((items - notTried) / seconds), "");
        out.println();
    }
}
