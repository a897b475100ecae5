package baton.benchmarks;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.OptionalDouble;
import java.util.TreeMap;

/** The scores of one implementation in one workload, a score for each fork, and other values that were observed. */
final class Measured {
    static final String BYTES = "bytes";
    static final String SUSPENDED = "suspended";
    static final String P99 = "p99";

    /** Forks that are so many times apart do not measure the same. */
    private static final double GROUPED_SPREAD = 1.5;

    final String unit;
    final String mode;
    private final List<Double> forks = new ArrayList<>();
    private final Map<String, List<Double>> observed = new TreeMap<>();

    Measured(String unit, String mode) {
        this.unit = unit;
        this.mode = mode;
    }

    void add(List<Double> scores, Map<String, Double> besides) {
        forks.addAll(scores);
        besides.forEach((name, value) ->
                observed.computeIfAbsent(name, key -> new ArrayList<>()).add(value));
    }

    boolean isTime() {
        return unit.endsWith("/op");
    }

    int forks() {
        return forks.size();
    }

    double score() {
        return median(forks);
    }

    /** The median over the runs of a value that was observed, empty if it was not. */
    OptionalDouble observed(String name) {
        List<Double> values = observed.get(name);
        return values == null ? OptionalDouble.empty() : OptionalDouble.of(median(values));
    }

    /** The same forks by what was observed, in place of the score; null if it was not. */
    Measured ofObserved(String name) {
        List<Double> values = observed.get(name);
        if (values == null) return null;
        Measured view = new Measured(name, mode);
        view.add(values, Map.of());
        return view;
    }

    /** Whether the forks fall into groups, as those of a benchmark with several steady states do. */
    boolean isGrouped() {
        return Collections.max(forks) > GROUPED_SPREAD * Collections.min(forks);
    }

    /** The ratio of the medians, and its range over the forks, each beside the peer's fork that ran next to it. */
    Ratio dividedBy(Measured peer) {
        double low = Double.POSITIVE_INFINITY;
        double high = 0;
        for (int i = 0; i < Math.min(forks.size(), peer.forks.size()); i++) {
            double ratio = forks.get(i) / peer.forks.get(i);
            low = Math.min(low, ratio);
            high = Math.max(high, ratio);
        }
        return new Ratio(score() / peer.score(), low, high, isGrouped() || peer.isGrouped());
    }

    /** Ours divided by theirs. */
    record Ratio(double median, double low, double high, boolean isGrouped) {}

    private static double median(List<Double> values) {
        List<Double> sorted = new ArrayList<>(values);
        Collections.sort(sorted);
        int middle = sorted.size() / 2;
        return sorted.size() % 2 == 1 ? sorted.get(middle) : (sorted.get(middle - 1) + sorted.get(middle)) / 2;
    }
}
