package baton.sync

/** Who goes first at a [ReadWriteLock] where readers and writers wait. Writers are first come, first served in each. */
public enum class ReadWritePolicy {
    /**
     * Readers and writers take turns: a waiting writer holds back readers that come after it, and a writer that leaves
     * lets in all readers that wait at that moment. Nobody starves: a reader waits for at most one writer, besides
     * those readers that are still inside before it; a writer waits for the writers before it, and for one such turn of
     * readers before each of them and itself.
     */
    PHASE_FAIR,

    /** As long as writers wait, no reader gets in. Readers starve where writers never cease. */
    WRITER_FIRST,

    /** A reader gets in unless somebody writes. Writers starve where readers never cease. */
    READER_FIRST,
}
