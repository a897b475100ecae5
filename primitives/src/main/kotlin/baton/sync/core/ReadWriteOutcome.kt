package baton.sync.core

/** The outcome of a request for a read-write lock. */
internal enum class ReadWriteOutcome {
    DONE,
    BUSY,
    HELD,
    DEADLOCK,
    FULL,
    NOT_HELD,
}
