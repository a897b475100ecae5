package samples.support;

import baton.batch.BatchReport;
import java.io.PrintStream;

/** Counts what an import does. All methods may be called from any thread. */
public final class ImportReport extends RecordCounts {
    private final ImportServer server;
    private final CountedFaults faults;
    private final HeapMeter heap;
    private int pulled;
    private int saved;

    /** Null without a batch. */
    private BatchReport<ImportRecord> ended;

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

    /** A record is taken from the source. */
    public synchronized void pulled() {
        pulled++;
    }

    /** The answer of a record is saved. */
    public synchronized void saved() {
        saved++;
    }

    /** The batch has ended. */
    public synchronized void ended(BatchReport<ImportRecord> batch) {
        ended = batch;
        for (BatchReport.Failed<ImportRecord> failed : batch.getFailed()) failures.addCall(failed.getCause());
    }

    /** Whether every record is stored once, and its answer is saved. */
    synchronized boolean isComplete() {
        return server.stored() == records
                && saved == records
                && failures.count() == 0
                && ended != null
                && accountedFor() == pulled;
    }

    /** One line: how many records have not arrived, and why. */
    synchronized String shortfall() {
        StringBuilder line = new StringBuilder(server.stored() + " of " + records + " records arrived");
        if (failures.count() > 0) line.append(": ").append(failures);
        if (ended != null && !ended.getNotStarted().isEmpty()) {
            line.append(", ").append(ended.getNotStarted().size()).append(" not started");
        }
        return line.toString();
    }

    private long accountedFor() {
        return ended.getSucceeded()
                + ended.getFailed().size()
                + ended.getNotStarted().size();
    }

    private String reconciliation() {
        String sum = ended.getSucceeded() + " succeeded + " + ended.getFailed().size() + " failed + "
                + ended.getNotStarted().size() + " not started";
        return accountedFor() == pulled ? "= " + sum : "is NOT " + sum;
    }

    /** Prints a table. */
    synchronized void print(PrintStream out, String title) {
        printArrived(out, title, server.stored());
        Table.row(out, "answered with 200", answeredCount(), ended == null ? "" : saved + " saved");
        if (ended != null) Table.row(out, "pulled", pulled, reconciliation());
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
