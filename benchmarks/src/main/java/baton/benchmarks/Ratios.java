package baton.benchmarks;

import com.google.gson.JsonElement;
import com.google.gson.JsonObject;
import com.google.gson.JsonParser;
import java.io.IOException;
import java.io.Reader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;

/**
 * Reads JMH's JSON results, one file or several (say one per JDK), and prints every benchmark that has a parameter
 * {@code impl}: Baton first, then each peer with the ratio of Baton's score to the peer's.
 *
 * <p>The range behind a ratio is the widest that both error bars allow. With times (ns/op) a ratio below 1 is in
 * Baton's favour, with throughput (ops/s) one above 1; the last column names the winner, or "even" if the range has
 * both. Two iterations or fewer have no error bars, and then no range.
 */
public final class Ratios {
    private static final String OURS = "baton";
    private static final List<String> HEADER =
            List.of("results", "benchmark", "impl", "score", "unit", "B/op", "baton/impl", "range", "baton is");
    private static final List<Integer> NUMBERS = List.of(3, 5, 6);

    private Ratios() {}

    public static void main(String[] args) throws IOException {
        if (args.length == 0) {
            System.err.println("usage: ratios FILE... (JMH results as JSON)");
            System.exit(2);
        }
        Map<Workload, Map<String, Measured>> results = new LinkedHashMap<>();
        for (String file : args) {
            read(Path.of(file), args.length > 1, results);
        }
        List<List<String>> lines = new ArrayList<>();
        lines.add(HEADER);
        results.forEach((workload, impls) -> addLines(workload, impls, lines));
        print(lines);
    }

    /** A benchmark with its parameters other than {@code impl}. */
    private record Workload(String source, String name) {}

    private record Measured(double score, double error, String unit, double bytes) {
        double low() {
            return Math.max(0, score - error);
        }

        double high() {
            return score + error;
        }

        boolean isTime() {
            return unit.endsWith("/op");
        }
    }

    private static void read(Path file, boolean several, Map<Workload, Map<String, Measured>> results)
            throws IOException {
        try (Reader reader = Files.newBufferedReader(file)) {
            for (JsonElement element : JsonParser.parseReader(reader).getAsJsonArray()) {
                JsonObject result = element.getAsJsonObject();
                Map<String, String> params = params(result);
                String impl = params.remove("impl");
                if (impl == null) {
                    continue;
                }
                String jdk = "JDK " + result.get("jdkVersion").getAsString();
                String source = several ? file.getFileName() + ", " + jdk : jdk;
                results.computeIfAbsent(new Workload(source, name(result, params)), workload -> new LinkedHashMap<>())
                        .put(impl, measured(result));
            }
        }
    }

    private static Map<String, String> params(JsonObject result) {
        Map<String, String> params = new TreeMap<>();
        if (result.has("params")) {
            result.getAsJsonObject("params").asMap().forEach((name, value) -> params.put(name, value.getAsString()));
        }
        return params;
    }

    private static String name(JsonObject result, Map<String, String> params) {
        String benchmark = result.get("benchmark").getAsString();
        int method = benchmark.lastIndexOf('.');
        StringBuilder name = new StringBuilder(benchmark.substring(benchmark.lastIndexOf('.', method - 1) + 1));
        params.forEach(
                (param, value) -> name.append(' ').append(param).append('=').append(value));
        int threads = result.get("threads").getAsInt();
        if (threads > 1) {
            name.append(" threads=").append(threads);
        }
        return name.append(" (")
                .append(result.get("mode").getAsString())
                .append(')')
                .toString();
    }

    private static Measured measured(JsonObject result) {
        JsonObject primary = result.getAsJsonObject("primaryMetric");
        double error = numberOrNaN(primary.get("scoreError"));
        double bytes = Double.NaN;
        for (Map.Entry<String, JsonElement> metric :
                result.getAsJsonObject("secondaryMetrics").entrySet()) {
            // Older versions of JMH put a dot before the name.
            if (metric.getKey().endsWith("gc.alloc.rate.norm")) {
                bytes = numberOrNaN(metric.getValue().getAsJsonObject().get("score"));
            }
        }
        return new Measured(
                primary.get("score").getAsDouble(),
                error,
                primary.get("scoreUnit").getAsString(),
                bytes);
    }

    /** JMH writes "NaN" as a string, for instance where one iteration allows no error. */
    private static double numberOrNaN(JsonElement element) {
        return element == null ? Double.NaN : Double.parseDouble(element.getAsString());
    }

    private static void addLines(Workload workload, Map<String, Measured> impls, List<List<String>> lines) {
        Measured ours = impls.get(OURS);
        if (ours != null) {
            lines.add(line(workload, OURS, ours, "", "", ""));
        }
        impls.forEach((impl, peer) -> {
            if (impl.equals(OURS)) {
                return;
            }
            if (ours == null || !ours.unit.equals(peer.unit)) {
                lines.add(line(workload, impl, peer, "", "", ""));
                return;
            }
            String ratio = number(ours.score / peer.score);
            double low = ours.low() / peer.high();
            double high = ours.high() / peer.low();
            if (Double.isNaN(low) || Double.isNaN(high)) {
                lines.add(line(workload, impl, peer, ratio, "unknown", ""));
                return;
            }
            String verdict = low <= 1 && high >= 1 ? "even" : (high < 1) == peer.isTime() ? "better" : "worse";
            lines.add(line(workload, impl, peer, ratio, number(low) + " to " + number(high), verdict));
        });
    }

    private static List<String> line(
            Workload workload, String impl, Measured measured, String ratio, String range, String verdict) {
        String bytes = Double.isNaN(measured.bytes) ? "" : String.format(Locale.ROOT, "%.1f", measured.bytes);
        return List.of(
                workload.source,
                workload.name,
                impl,
                number(measured.score),
                measured.unit,
                bytes,
                ratio,
                range,
                verdict);
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
            if (i == 0) {
                System.out.println(line.replaceAll("[^|]", "-"));
            }
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
