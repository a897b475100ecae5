package samples.support;

import java.io.PrintStream;
import java.util.List;

/** Counts what an import does. All methods may be called from any thread. */
public final class ImportReport extends RecordCounts {
    private final ImportServer server;
    private final CountedFaults faults;
    private final HeapMeter heap;
    private int saved;
    private int chunks;

    ImportReport(int records, ImportServer server, CountedFaults faults, HeapMeter heap, PrintStream out) {
        super(records, out);
        this.server = server;
        this.faults = faults;
        this.heap = heap;
    }

    /** All records are under way. */
    public void allStarted() {
        heap.look();
    }

    @Override
    void onAnswer(int count) {
        if (count == records / 2) heap.look();
    }

    @Override
    String progressNote() {
        return ", " + (heap.peak() >> 20) + " MB";
    }

    /** The answers of a chunk are saved. */
    public synchronized void saved(List<String> answers) {
        chunks++;
        saved += answers.size();
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
        printArrived(out, title, server.stored());
        Table.row(
                out,
                "answered with 200",
                answeredCount(),
                chunks > 0 ? saved + " saved, in " + chunks + (chunks == 1 ? " chunk" : " chunks") : "");
        printFailures(out);
        Table.row(out, "  of arrived records", server.again(), "the answer was lost, the server knew the record");
        Table.row(out, "  too early", faults.early(), "before the Retry-After of the last answer");
        Table.row(
                out,
                "peak weight in flight",
                server.peak(),
                "seen by the server, which refuses above " + CountedFaults.CAPACITY);
        Table.row(out, "peak heap", heap.peak() >> 20, "MB, after collections, without what was there before");
        printTime(out);
    }
}
