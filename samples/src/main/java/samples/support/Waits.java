package samples.support;

import java.util.List;

/**
 * The waits of the jobs of a kind, from being scheduled to their start.
 *
 * @param ran the number of them that were run.
 * @param mean in milliseconds, as all here; not a number if none was run.
 */
record Waits(int ran, double mean, double longest) {
    static Waits of(JobKind kind, List<JobRun> runs) {
        var waits = runs.stream()
                .filter(run -> run.job().kind() == kind)
                .mapToDouble(run -> run.waited() / 1e6)
                .summaryStatistics();
        int ran = (int) waits.getCount();
        return new Waits(ran, ran == 0 ? Double.NaN : waits.getAverage(), ran == 0 ? Double.NaN : waits.getMax());
    }
}
