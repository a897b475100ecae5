package baton.scheduler.schedule

/** The states of an entry in an [EntryTable], as bits. */
internal object EntryFlags {
    const val LIVE = 1
    const val PAUSED = 1 shl 1

    /** Its last run goes on; then it is removed. */
    const val ENDING = 1 shl 2

    /** [baton.scheduler.Schedule.triggerNow] was called, and the loop has not seen it. */
    const val TRIGGERED = 1 shl 3

    /** Its due time was past already when the entry was put or loaded. */
    const val LATE = 1 shl 4

    /** Its row is to be written. */
    const val DIRTY = 1 shl 5

    /** Its row is being written. */
    const val IN_FLIGHT = 1 shl 6

    /** The user has changed the entry since its row was last taken to be written. */
    const val EDITED = 1 shl 7

    /** One of the latest deletions: an older row of another writer must not bring it back. Stays with a new put. */
    const val RECENTLY_DELETED = 1 shl 8

    /** A write of its row has failed, and may have had its effect all the same. */
    const val MAYBE_STORED = 1 shl 9

    /** The store has refused its row, which is left out until the entry is edited or removed. */
    const val REFUSED = 1 shl 10

    /** IN_FLIGHT, and EDITED until it was: a write that fails makes it EDITED again. */
    const val EDIT_IN_FLIGHT = 1 shl 11

    /** Its row in the store is a deletion, because its trigger has no text; the revision is that of the deletion. */
    const val ROW_DELETED = 1 shl 12

    /** PAUSED because its trigger has thrown, or is unknown: in the store it is not paused. */
    const val FAILED = 1 shl 13
    const val UNWRITTEN = DIRTY or IN_FLIGHT
}
