package samples.support;

import java.io.PrintStream;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/** Which JVM was served when: a row for each, a column for each slice of the time. */
final class UplinkTable {
    private static final long SLICE_NANOS = 250_000_000;
    private static final double NANOS = 1e9;

    private final int jvms;
    private final long start;
    private final List<Mark> marks = new ArrayList<>();

    private record Mark(int jvm, long from, long to, char sign) {}

    UplinkTable(int jvms, long start) {
        this.jvms = jvms;
        this.start = start;
    }

    /** In that time the JVM was dead, or stopped. */
    void mark(int jvm, long from, long to, char sign) {
        marks.add(new Mark(jvm, from, to, sign));
    }

    void print(PrintStream out, List<UplinkServer.Served> served, long end) {
        out.println("Requests of each JVM that were served at one time, by quarters of a second");
        out.println("  (x: killed, =: stopped)");
        for (int jvm = 1; jvm <= jvms; jvm++) {
            int number = jvm;
            row(
                    out,
                    "JVM " + jvm,
                    served.stream().filter(it -> it.jvm() == number).toList(),
                    jvm,
                    end);
        }
        row(out, "all", served, 0, end);
    }

    private void row(PrintStream out, String label, List<UplinkServer.Served> served, int jvm, long end) {
        StringBuilder row = new StringBuilder();
        for (long from = start; from < end; from += SLICE_NANOS) {
            long to = from + SLICE_NANOS;
            char sign = signOf(jvm, from, to);
            int most = mostAtOnce(served, from, to);
            row.append(sign != 0 && most == 0 ? sign : most == 0 ? '.' : (char) ('0' + most));
        }
        out.println(String.format(Locale.ROOT, "  %-6s %s", label, row));
    }

    private char signOf(int jvm, long from, long to) {
        for (Mark mark : marks) if (mark.jvm == jvm && mark.from < to && from < mark.to) return mark.sign;
        return 0;
    }

    /** Each maximum begins with a request, or with the slice. */
    private static int mostAtOnce(List<UplinkServer.Served> served, long from, long to) {
        List<UplinkServer.Served> within =
                served.stream().filter(it -> it.from() < to && from < it.to()).toList();
        int most = 0;
        for (UplinkServer.Served first : within) {
            long time = Math.max(first.from(), from);
            most = Math.max(most, (int) within.stream()
                    .filter(it -> it.from() <= time && time < it.to())
                    .count());
        }
        return most;
    }

    double seconds(long time) {
        return (time - start) / NANOS;
    }
}
