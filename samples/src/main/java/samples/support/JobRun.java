package samples.support;

/**
 * A job that was run. Times are in nanoseconds since the jobs began to come.
 *
 * @param slot which of the places for jobs that run at the same time it had, from 0.
 */
record Turn(Job job, int slot, long scheduled, long started, long ended) {
    long waited() {
        return started - scheduled;
    }
}
