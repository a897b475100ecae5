package baton.benchmarks;

import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.OptionalDouble;

/**
 * Reads JMH's JSON results, one file or several (say one per JDK), and prints every benchmark that has a parameter
 * {@code impl}: Baton first, then each peer with the ratio of Baton's score to the peer's.
 *
 * <p>A score is the median over the forks, of sampled times that of the medians; the range of a ratio is that over the
 * forks, each beside the peer's of the same number. With times (ns/op) a ratio below 1 is in Baton's favour, with
 * throughput (ops/s) one above 1; the last column names the winner, or "even" if the range has both. One fork has no
 * range. "groups" marks a ratio whose forks lie more than 1.5 times apart: they measured different states.
 */
public final class Ratios {
    private static final String OURS = "baton";
    private static final List<String> HEADER = List.of(
            "results",
            "benchmark",
            "impl",
            "score",
            "unit",
            "p99",
            "waited",
            "B/op",
            "baton/impl",
            "range",
            "baton is");
    private static final List<Integer> NUMBERS = List.of(3, 5, 6, 7, 8);

    private Ratios() {}

    public static void main(String[] args) throws IOException {
        if (args.length == 0) {
            System.err.println("usage: ratios FILE... (JMH results as JSON)");
            System.exit(2);
        }
        Results results = new Results();
        for (String file : args) results.read(Path.of(file), args.length > 1);
        List<List<String>> lines = new ArrayList<>();
        lines.add(HEADER);
        results.all().forEach((workload, impls) -> addLines(workload, impls, lines));
        print(lines);
    }

    private static void addLines(Results.Workload workload, Map<String, Measured> impls, List<List<String>> lines) {
        Measured ours = impls.get(OURS);
        if (ours != null) lines.add(line(workload, OURS, ours, null));
        impls.forEach((impl, peer) -> {
            if (impl.equals(OURS)) return;
            boolean isComparable = ours != null && ours.unit.equals(peer.unit);
            lines.add(line(workload, impl, peer, isComparable ? ours : null));
        });
    }

    private static List<String> line(Results.Workload workload, String impl, Measured measured, Measured ours) {
        String ratio = "";
        String range = "";
        String verdict = "";
        if (ours != null) {
            Measured.Ratio divided = ours.dividedBy(measured);
            ratio = number(divided.median());
            if (Math.min(ours.forks(), measured.forks()) > 1) {
                range = number(divided.low()) + " to " + number(divided.high())
                        + (divided.isGrouped() ? ", groups" : "");
                boolean isEven = divided.low() <= 1 && divided.high() >= 1;
                verdict = isEven ? "even" : (divided.high() < 1) == measured.isTime() ? "better" : "worse";
            }
        }
        return List.of(
                workload.source(),
                workload.toString(),
                impl,
                number(measured.score()),
                measured.unit,
                text(measured.observed(Measured.P99), "%.0f"),
                text(measured.observed(Measured.SUSPENDED), "%.0f %%"),
                text(measured.observed(Measured.BYTES), "%.1f"),
                ratio,
                range,
                verdict);
    }

    private static String text(OptionalDouble value, String format) {
        return value.isPresent() ? String.format(Locale.ROOT, format, value.getAsDouble()) : "";
    }

    private static String number(double value) {
        return String.format(Locale.ROOT, Math.abs(value) >= 100 ? "%.0f" : "%.3f", value);
    }

    private static void print(List<List<String>> lines) {
        int[] widths = new int[HEADER.size()];
        for (List<String> line : lines) {
            for (int column = 0; column < widths.length; column++) {
                widths[column] = Math.max(widths[column], line.get(column).length());
            }
        }
        for (int i = 0; i < lines.size(); i++) {
            String line = padded(lines.get(i), widths);
            System.out.println(line);
            if (i == 0) System.out.println(line.replaceAll("[^|]", "-"));
        }
    }

    private static String padded(List<String> cells, int[] widths) {
        StringBuilder line = new StringBuilder("|");
        for (int column = 0; column < widths.length; column++) {
            String side = NUMBERS.contains(column) ? "" : "-";
            line.append(String.format(" %" + side + widths[column] + "s |", cells.get(column)));
        }
        return line.toString();
    }
}
