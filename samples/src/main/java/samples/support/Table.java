package samples.support;

import java.io.PrintStream;
import java.util.Locale;

/** The rows of the tables that the samples print: a label, a whole number and a note. */
final class Table {
    private Table() {}

    static void row(PrintStream out, String label, long number, String note) {
        out.println(String.format(Locale.ROOT, "  %-22s %8d  %s", label, number, note)
                .stripTrailing());
    }
}
