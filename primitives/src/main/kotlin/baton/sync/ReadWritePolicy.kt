package baton.sync

/**
 * The order in which a [ReadWriteLock] admits readers and writers. Under each policy writers are first come, first
 * served.
 */
public enum class ReadWritePolicy {
    /**
     * Phases of readers and writers alternate: a waiting writer blocks readers that come after it, and a writer that
     * unlocks admits all readers that wait at that moment. No caller starves: a reader waits for at most one writer,
     * besides the readers that still hold the lock before that writer; a writer waits for the writers before it, and
     * for one phase of readers before each of them and before itself.
     */
    PHASE_FAIR,

    /** While a writer waits, no reader is admitted. Readers starve while writers keep coming. */
    WRITER_FIRST,

    /** A reader is admitted unless a writer holds the lock. Writers starve while readers keep coming. */
    READER_FIRST,
}
