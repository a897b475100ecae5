package baton.benchmarks;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;
import java.util.stream.Stream;

/**
 * A row of the table in {@code docs/BENCHMARKS.md}: what is run, and the names of it there. The rows are those of the
 * resource {@code table.txt}, which explains its columns.
 *
 * @param workload what the row measures.
 * @param beside the peer.
 * @param isHeadline whether the row is in the short table and in the chart, too.
 * @param options what is not a parameter of the benchmark; see {@code table.txt}.
 */
record TableRow(
        String workload,
        String beside,
        boolean isHeadline,
        String benchmark,
        Map<String, String> params,
        Map<String, String> options,
        String ours,
        String theirs) {
    private static final List<String> OPTIONS = List.of("jdk", "jvm", "forks", "metric");
    private static final int COLUMNS = 5;

    /** A benchmark with one implementation: what JMH runs, and what several rows may share. */
    record Run(String benchmark, Map<String, String> params, String jvm, int forks, String impl) {}

    List<Run> runs() {
        int forks = Integer.parseInt(options.getOrDefault("forks", "1"));
        return Stream.of(ours, theirs)
                .map(impl -> new Run(benchmark, params, options.get("jvm"), forks, impl))
                .toList();
    }

    /** The oldest JDK that has what the row needs. */
    int jdk() {
        return Integer.parseInt(options.getOrDefault("jdk", "17"));
    }

    static List<TableRow> all() throws IOException {
        List<TableRow> rows = new ArrayList<>();
        try (BufferedReader lines = new BufferedReader(new InputStreamReader(
                Objects.requireNonNull(TableRow.class.getResourceAsStream("table.txt")), StandardCharsets.UTF_8))) {
            String workload = "";
            for (String line : lines.lines().toList()) {
                if (line.isBlank() || line.startsWith("#")) continue;
                TableRow row = parse(line, workload);
                workload = row.workload;
                rows.add(row);
            }
        }
        return rows;
    }

    /** A row whose workload is {@code "} has that of the row above it. */
    private static TableRow parse(String line, String above) {
        String[] cells = line.split("\\|", -1);
        if (cells.length != COLUMNS) throw new IllegalArgumentException("not " + COLUMNS + " columns: " + line);
        for (int i = 0; i < cells.length; i++) cells[i] = cells[i].strip();
        boolean isHeadline = cells[0].startsWith("*");
        String workload = isHeadline ? cells[0].substring(1).strip() : cells[0];
        String[] words = cells[2].split("\\s+");
        Map<String, String> params = new TreeMap<>();
        Map<String, String> options = new TreeMap<>();
        for (int i = 1; i < words.length; i++) {
            int equals = words[i].indexOf('=');
            if (equals < 0) throw new IllegalArgumentException("no value: " + words[i] + " in: " + line);
            String name = words[i].substring(0, equals);
            (OPTIONS.contains(name) ? options : params).put(name, words[i].substring(equals + 1));
        }
        return new TableRow(
                workload.equals("\"") ? above : workload,
                cells[1],
                isHeadline,
                words[0],
                params,
                options,
                cells[3],
                cells[4]);
    }
}
