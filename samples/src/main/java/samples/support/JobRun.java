package samples.support;

/**
 * A job that was run. Times are in nanoseconds since the first job was scheduled.
 *
 * @param slot the slot in which it ran, from 0; each running job has another one.
 */
record JobRun(Job job, int slot, long scheduled, long started, long ended) {
    long waited() {
        return started - scheduled;
    }
}
