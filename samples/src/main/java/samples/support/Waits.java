package samples.support;

import java.util.List;

/**
 * How long the jobs of a kind waited, from being scheduled to their start.
 *
 * @param ran how many of them were run.
 * @param mean in milliseconds, as all here; not a number if none was run.
 */
record Waits(int ran, double mean, double longest) {
    static Waits of(JobKind kind, List<Turn> turns) {
        var waits = turns.stream()
                .filter(turn -> turn.job().kind() == kind)
                .mapToDouble(turn -> turn.waited() / 1e6)
                .summaryStatistics();
        int ran = (int) waits.getCount();
        return new Waits(ran, ran == 0 ? Double.NaN : waits.getAverage(), ran == 0 ? Double.NaN : waits.getMax());
    }
}
