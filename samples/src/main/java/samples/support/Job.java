package samples.support;

import baton.Priority;
import java.util.ArrayList;
import java.util.List;

/**
 * A job of the comparison.
 *
 * @param number its position in the order in which jobs are scheduled, from 0.
 * @param kind the kind of request.
 * @param priority the level at which it is scheduled.
 * @param after the number of jobs that must have ended before it is scheduled.
 */
public record Job(int number, JobKind kind, Priority priority, int after) {
    private static final List<JobKind> BACKLOG = List.of(JobKind.CACHE_WARMING, JobKind.ANALYTICS, JobKind.PREFETCH);

    /** The least number of jobs with which there is one of every kind. */
    static final int LEAST = JobKind.values().length;

    /** The path of its request. */
    public String path() {
        return kind.path();
    }

    /**
     * Returns so many jobs in the order in which they are scheduled. Four fifths are the backlog, scheduled at once. Of
     * every twenty jobs one is CRITICAL and three are HIGH: these urgent jobs are scheduled one by one, the last when
     * half as many jobs have ended as the backlog has.
     *
     * @param prioritized whether each is scheduled at its own level, or all at NORMAL.
     */
    static List<Job> mix(int jobs, boolean prioritized) {
        int critical = Math.max(1, jobs / 20);
        int urgent = critical + Math.max(1, jobs * 3 / 20);
        int backlog = jobs - urgent;
        List<Job> mix = new ArrayList<>();
        for (int i = 0; i < backlog; i++) mix.add(of(i, BACKLOG.get(i % BACKLOG.size()), prioritized, 0));
        for (int i = 0; i < urgent; i++) {
            boolean isCritical = (i + 1) * critical / urgent > i * critical / urgent;
            JobKind kind = isCritical ? JobKind.TOKEN_REFRESH : JobKind.VIEW_DATA;
            mix.add(of(backlog + i, kind, prioritized, (i + 1) * backlog / (2 * urgent)));
        }
        return mix;
    }

    private static Job of(int number, JobKind kind, boolean prioritized, int after) {
        return new Job(number, kind, prioritized ? kind.priority() : Priority.NORMAL, after);
    }
}
