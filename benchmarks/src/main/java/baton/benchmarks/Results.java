package baton.benchmarks;

import com.google.gson.JsonArray;
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
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.StreamSupport;

/** JMH's results, from files of JSON. A benchmark that was run several times has the forks of all runs. */
final class Results {
    /** Names the options of the JVM with which a benchmark of the table ran, if they are not the usual ones. */
    static final String JVM = "-Dbaton.benchmarks.jvm=";

    private static final String OBSERVED = "observed.";

    /**
     * One benchmark with its parameters.
     *
     * @param source the JDK, with the file if there are several of that JDK.
     * @param params those other than {@code impl}.
     */
    record Workload(String source, String benchmark, Map<String, String> params, String jvm, int threads, String mode) {
        @Override
        public String toString() {
            StringBuilder name = new StringBuilder(benchmark);
            params.forEach(
                    (param, value) -> name.append(' ').append(param).append('=').append(value));
            if (jvm != null) name.append(" jvm=").append(jvm);
            if (threads > 1) name.append(" threads=").append(threads);
            return name.append(" (").append(mode).append(')').toString();
        }
    }

    private final Map<Workload, Map<String, Measured>> measured = new LinkedHashMap<>();

    Map<Workload, Map<String, Measured>> all() {
        return measured;
    }

    /** The results of each JDK, in the order of the files. */
    Map<String, Results> byJdk() {
        Map<String, Results> jdks = new LinkedHashMap<>();
        measured.forEach((workload, impls) -> jdks.computeIfAbsent(workload.source, jdk -> new Results())
                .measured
                .put(workload, impls));
        return jdks;
    }

    /** Adds the results of a file. Those of benchmarks without a parameter {@code impl} have no peer, and are left out. */
    void read(Path file, boolean isOneOfSeveral) throws IOException {
        try (Reader reader = Files.newBufferedReader(file)) {
            for (JsonElement element : JsonParser.parseReader(reader).getAsJsonArray()) {
                JsonObject result = element.getAsJsonObject();
                Map<String, String> params = new TreeMap<>();
                if (result.has("params")) {
                    result.getAsJsonObject("params")
                            .asMap()
                            .forEach((name, value) -> params.put(name, value.getAsString()));
                }
                String impl = params.remove("impl");
                if (impl == null) continue;
                String jdk = "JDK " + result.get("jdkVersion").getAsString();
                String source = isOneOfSeveral ? file.getFileName() + ", " + jdk : jdk;
                measured.computeIfAbsent(workload(source, params, result), workload -> new LinkedHashMap<>())
                        .computeIfAbsent(impl, name -> new Measured(unit(result), mode(result)))
                        .add(scores(result), observed(result));
            }
        }
    }

    private static Workload workload(String source, Map<String, String> params, JsonObject result) {
        String benchmark = result.get("benchmark").getAsString();
        int method = benchmark.lastIndexOf('.');
        String jvm = null;
        for (JsonElement argument : result.getAsJsonArray("jvmArgs")) {
            if (argument.getAsString().startsWith(JVM))
                jvm = argument.getAsString().substring(JVM.length());
        }
        return new Workload(
                source,
                benchmark.substring(benchmark.lastIndexOf('.', method - 1) + 1),
                params,
                jvm,
                result.get("threads").getAsInt(),
                mode(result));
    }

    private static String mode(JsonObject result) {
        return result.get("mode").getAsString();
    }

    private static String unit(JsonObject result) {
        return result.getAsJsonObject("primaryMetric").get("scoreUnit").getAsString();
    }

    /** A score for each fork: the mean of its iterations; of sampled times the median of all. */
    private static List<Double> scores(JsonObject result) {
        JsonObject primary = result.getAsJsonObject("primaryMetric");
        if (mode(result).equals("sample")) return List.of(percentile(primary, "50.0"));
        List<Double> scores = new ArrayList<>();
        for (JsonElement fork : primary.getAsJsonArray("rawData")) {
            JsonArray iterations = fork.getAsJsonArray();
            scores.add(StreamSupport.stream(iterations.spliterator(), false)
                    .mapToDouble(JsonElement::getAsDouble)
                    .average()
                    .orElseThrow());
        }
        return scores;
    }

    /** The values measured besides the time, by name. */
    private static Map<String, Double> observed(JsonObject result) {
        Map<String, Double> observed = new TreeMap<>();
        result.getAsJsonObject("secondaryMetrics").asMap().forEach((name, metric) -> {
            // Some versions of JMH put a sign before the name.
            String plain = name.substring(name.startsWith("·") ? 1 : 0);
            double score =
                    Double.parseDouble(metric.getAsJsonObject().get("score").getAsString());
            if (plain.equals("gc.alloc.rate.norm")) observed.put(Measured.BYTES, score);
            if (plain.startsWith(OBSERVED)) observed.put(plain.substring(OBSERVED.length()), score);
        });
        if (mode(result).equals("sample")) {
            observed.put(Measured.P99, percentile(result.getAsJsonObject("primaryMetric"), "99.0"));
        }
        return observed;
    }

    private static double percentile(JsonObject primary, String percent) {
        return primary.getAsJsonObject("scorePercentiles").get(percent).getAsDouble();
    }
}
