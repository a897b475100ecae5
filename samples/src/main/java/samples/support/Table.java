package samples.support;

import java.io.PrintStream;
import java.util.Locale;

/** The rows of a table in the output. */
public final class Table {
    private Table() {}

    public static void row(PrintStream out, String label, long count, String note) {
        out.println(String.format(Locale.ROOT, "  %-22s %8d  %s", label, count, note)
                .stripTrailing());
    }

    /** The row of the time that all took. */
    public static void elapsed(PrintStream out, double seconds) {
        out.printf(Locale.ROOT, "  %-22s %8.2f  s%n", "elapsed", seconds);
    }
}
