package baton.scheduler.schedule

import baton.Priority
import baton.scheduler.Trigger

/** A run of an entry, from its hand-over to its end. */
internal class Firing<K : Any>(
    val slot: Int,
    val key: K,
    /** The one that has fired. If the entry has another one at the end of the run, [catchUp] is dropped. */
    val trigger: Trigger?,
    /** When the entry was due, in microseconds. */
    val at: Long,
    val priority: Priority,
    val missed: Int,
    /** The runs that follow on this one. */
    val catchUp: CatchUp?,
    /** Whether it runs although the entry is paused. */
    val ignoresPause: Boolean,
) {
    /** Whether the action has begun. */
    var hasBegun = false

    /** Whether its end was recorded. */
    var hasEnded = false
}

/** The runs of an entry that are handed over and have not ended. */
internal class EntryRuns<K : Any> {
    /** At least 1. */
    var count = 0

    /** When the first of them was due, for the row of the entry; [Times.NEVER] if `triggerNow` has started it. */
    var due = Times.NEVER

    /** The run that waits for the end of the present one. */
    var waiting: Firing<K>? = null
}
