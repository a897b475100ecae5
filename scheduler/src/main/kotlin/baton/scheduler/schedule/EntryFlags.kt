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

    /** PAUSED because the run of an entry that is due once has failed for good. */
    const val RUN_FAILED = 1 shl 14

    /** Put before the rows were loaded: the due time and the pause of its row are to stay. */
    const val KEEP_DUE = 1 shl 15

    /** Put before the rows were loaded: its row replaces it. */
    const val IF_ABSENT = 1 shl 16

    /** Due once, failed, and resumed: its run is no misfire, however late it is. */
    const val RESUMED = 1 shl 20

    /** Where the outcome of its last run is: its number and 1, or 0 if none has ended. */
    const val OUTCOME_SHIFT = 17
    const val OUTCOME = 7 shl OUTCOME_SHIFT
    const val UNWRITTEN = DIRTY or IN_FLIGHT
}
