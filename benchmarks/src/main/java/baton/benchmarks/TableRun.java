package baton.benchmarks;

import java.io.IOException;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.regex.Pattern;
import org.openjdk.jmh.profile.GCProfiler;
import org.openjdk.jmh.results.RunResult;
import org.openjdk.jmh.results.format.ResultFormatFactory;
import org.openjdk.jmh.results.format.ResultFormatType;
import org.openjdk.jmh.runner.Runner;
import org.openjdk.jmh.runner.RunnerException;
import org.openjdk.jmh.runner.options.ChainedOptionsBuilder;
import org.openjdk.jmh.runner.options.OptionsBuilder;
import org.openjdk.jmh.runner.options.VerboseMode;

/**
 * Runs the benchmarks of the table, each with the settings of its annotations: {@code benchmarks/run --table [ROUNDS
 * [PATTERN]]}. A round forks each implementation once, ours and its peers in turn, so that a change of the machine's load
 * meets both; a round takes about ten minutes, so the range over the rounds has slow changes of the machine, too. After
 * each round the file holds all results so far. A run that failed is named, and the exit code is then 1. A pattern of the benchmarks' names runs some rows alone.
 */
public final class TableRun {
    private static final String HEAP = "-Xms384m -Xmx384m -XX:+AlwaysPreTouch";
    private static final String G1 = "-XX:+UseG1GC";

    private TableRun() {}

    public static void main(String[] args) throws IOException {
        String file = args[0];
        int rounds = args.length > 1 ? Integer.parseInt(args[1]) : 3;
        Pattern pattern = Pattern.compile(args.length > 2 ? args[2] : "");
        Set<TableRow.Run> runs = new LinkedHashSet<>();
        for (TableRow row : TableRow.all()) {
            if (row.jdk() > Runtime.version().feature()) continue;
            if (pattern.matcher(row.benchmark()).find()) runs.addAll(row.runs());
        }
        Instant start = Instant.now();
        List<RunResult> results = new ArrayList<>();
        boolean areAllThere = true;
        for (int round = 1; round <= rounds; round++) {
            int done = 0;
            for (TableRow.Run run : runs) {
                areAllThere &= add(run, results);
                System.out.printf(
                        "round %d of %d, %d of %d runs, %s%n",
                        round,
                        rounds,
                        ++done,
                        runs.size(),
                        Duration.between(start, Instant.now()).withNanos(0));
            }
            ResultFormatFactory.getInstance(ResultFormatType.JSON, file).writeOut(results);
        }
        if (!areAllThere) System.exit(1);
    }

    /** Returns false if the run has no result. */
    private static boolean add(TableRow.Run run, List<RunResult> results) {
        ChainedOptionsBuilder options = new OptionsBuilder()
                .include("^baton\\.benchmarks\\." + Pattern.quote(run.benchmark()) + "$")
                .param("impl", run.impl())
                .addProfiler(GCProfiler.class)
                .addProfiler(Observed.class)
                .verbosity(VerboseMode.SILENT)
                .forks(run.forks());
        for (Map.Entry<String, String> param : run.params().entrySet()) options.param(param.getKey(), param.getValue());
        String jvm = run.jvm();
        if (jvm != null) {
            String heap = jvm.contains("GC") ? HEAP : HEAP + " " + G1;
            options.jvmArgsAppend((heap + " " + jvm.replace(',', ' ') + " " + Results.JVM + jvm).split(" "));
        }
        try {
            List<RunResult> one = new ArrayList<>(new Runner(options.build()).run());
            if (one.isEmpty()) System.out.println("VOID: " + run);
            for (RunResult result : one) System.out.printf("%s %s%n", run, result.getPrimaryResult());
            results.addAll(one);
            return !one.isEmpty();
        } catch (RunnerException e) {
            System.out.println("FAILED: " + run + ": " + e);
            return false;
        }
    }
}
