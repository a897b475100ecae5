package baton.benchmarks;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.OptionalDouble;

/**
 * Writes the table of measured ratios from the results of {@link TableRun}, a file or several for each JDK:
 * {@code benchmarks/ratios --table jdk25.json jdk17.json}. The table goes into {@code docs/BENCHMARKS.md}, between two
 * marks, and its headline rows into the chart {@code docs/benchmarks.svg}, which README.md shows.
 */
public final class Table {
    private static final String COMMAND = "benchmarks/ratios --table";
    private static final String NOTHING = "–";
    private static final String GROUPED_MARK = "†";

    private Table() {}

    public static void main(String[] args) throws IOException {
        Path root = Path.of(args[0]);
        Results results = new Results();
        for (String file : List.of(args).subList(1, args.length)) results.read(Path.of(file), false);
        Map<String, Results> jdks = results.byJdk();
        List<TableRow> rows = TableRow.all();
        List<TableRow> headlines = rows.stream().filter(TableRow::isHeadline).toList();
        replace(root.resolve("docs/BENCHMARKS.md"), COMMAND, markdown(rows, jdks));
        Files.writeString(root.resolve("docs/benchmarks.svg"), Chart.of(headlines, jdks));
    }

    /** Between the two marks of the command. */
    static void replace(Path page, String command, String table) throws IOException {
        String text = Files.readString(page);
        String mark = "<!-- written by " + command + ", begin -->\n";
        int begin = text.indexOf(mark);
        int end = text.indexOf("<!-- written by " + command + ", end -->\n");
        if (begin < 0 || end < begin) throw new IllegalStateException(page + " has no place for the table");
        Files.writeString(page, text.substring(0, begin) + mark + table + text.substring(end));
    }

    private static String markdown(List<TableRow> rows, Map<String, Results> jdks) {
        StringBuilder text = new StringBuilder("| workload | beside |");
        for (String jdk : jdks.keySet()) text.append(' ').append(shortened(jdk)).append(" |");
        text.append(" B/op, ours / theirs |\n|---|---|")
                .append("---|".repeat(jdks.size()))
                .append("---|\n");
        for (TableRow row : rows) {
            List<Pair> pairs = new ArrayList<>();
            jdks.forEach((jdk, results) -> pairs.add(pair(row, results)));
            text.append("| ")
                    .append(row.workload())
                    .append(" | ")
                    .append(row.beside())
                    .append(" |");
            for (Pair pair : pairs)
                text.append(' ').append(pair == null ? NOTHING : ratio(pair)).append(" |");
            text.append(' ').append(bytes(pairs)).append(" |\n");
        }
        return text.toString();
    }

    /** The version without its build: "JDK 25.0.3" is "JDK 25". */
    static String shortened(String jdk) {
        return jdk.replaceAll("[.+].*", "");
    }

    /** Ours and theirs of one row on one JDK. */
    record Pair(Measured ours, Measured theirs) {
        Measured.Ratio ratio() {
            return ours.dividedBy(theirs);
        }
    }

    /** Null if the row was not run there, or if a fork of one side failed: forks are compared in pairs. */
    static Pair pair(TableRow row, Results results) {
        String jvm = row.options().get("jvm");
        for (Map.Entry<Results.Workload, Map<String, Measured>> entry :
                results.all().entrySet()) {
            Results.Workload workload = entry.getKey();
            if (!workload.benchmark().equals(row.benchmark())) continue;
            if (!workload.params().equals(row.params()) || !Objects.equals(jvm, workload.jvm())) continue;
            Measured ours = entry.getValue().get(row.ours());
            Measured theirs = entry.getValue().get(row.theirs());
            if (ours == null || theirs == null) return null;
            String metric = row.options().get("metric");
            if (metric != null) {
                String[] metrics = metric.split("/");
                ours = ours.ofObserved(metrics[0]);
                theirs = theirs.ofObserved(metrics[1]);
            }
            boolean isWhole = ours != null && theirs != null && ours.forks() == theirs.forks();
            return isWhole ? new Pair(ours, theirs) : null;
        }
        return null;
    }

    private static String ratio(Pair pair) {
        Measured.Ratio ratio = pair.ratio();
        StringBuilder text = new StringBuilder("**" + number(ratio.median()) + "**");
        String low = number(ratio.low());
        String high = number(ratio.high());
        if (!low.equals(high))
            text.append(" (").append(low).append("–").append(high).append(')');
        if (ratio.isGrouped()) text.append(GROUPED_MARK);
        OptionalDouble ours = pair.ours.observed(Measured.SUSPENDED);
        OptionalDouble theirs = pair.theirs.observed(Measured.SUSPENDED);
        if (ours.isPresent() && theirs.isPresent() && Math.min(ours.getAsDouble(), theirs.getAsDouble()) < 90) {
            text.append(
                    String.format(Locale.ROOT, ", waited %.0f / %.0f %%", ours.getAsDouble(), theirs.getAsDouble()));
        }
        OptionalDouble ourTail = pair.ours.observed(Measured.P99);
        OptionalDouble theirTail = pair.theirs.observed(Measured.P99);
        if (ourTail.isPresent() && theirTail.isPresent()) {
            text.append(", p99 ").append(number(ourTail.getAsDouble() / theirTail.getAsDouble()));
        }
        return text.toString();
    }

    /** Those of the first JDK that has the row; sampled times have none worth printing. */
    private static String bytes(List<Pair> pairs) {
        for (Pair pair : pairs) {
            if (pair == null || pair.ours.mode.equals("sample")) continue;
            OptionalDouble ours = pair.ours.observed(Measured.BYTES);
            OptionalDouble theirs = pair.theirs.observed(Measured.BYTES);
            if (ours.isPresent() && theirs.isPresent()) {
                return String.format(Locale.ROOT, "%,.0f / %,.0f", ours.getAsDouble(), theirs.getAsDouble());
            }
        }
        return NOTHING;
    }

    /** Two decimals, more below 0.1, none from 10 on. */
    static String number(double value) {
        if (value < 0.0001) return "< 0.0001";
        String format = value >= 10 ? "%.0f" : value >= 0.0995 ? "%.2f" : value >= 0.00995 ? "%.3f" : "%.4f";
        return String.format(Locale.ROOT, format, value);
    }
}
