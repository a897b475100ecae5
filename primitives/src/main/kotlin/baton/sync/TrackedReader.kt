package baton.sync

import baton.waiting.boost.BoostableHolder

/** The tag of a reader that can be boosted while it reads, before it waits. */
internal class TrackedReadRequest(val owner: Any?, val boostable: BoostableHolder)

/** The tag of a waiting reader that has an owner or can be boosted; others have just their [batch] as the tag. */
internal class TrackedReader(val batch: ReaderBatch, val entry: ReadOwners.Entry?, val boostable: BoostableHolder?) {
    val owner: Any? get() = entry?.owner
}
