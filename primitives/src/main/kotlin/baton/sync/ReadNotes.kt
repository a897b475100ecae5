package baton.sync

import baton.waiting.boost.BoostableHolder

/** The tag of a reader that can be lifted while it reads, before it waits. */
internal class NotedRequest(val owner: Any?, val note: BoostableHolder)

/** Where a reader waits of whom more is known than its crowd. */
internal class NotedPlace(val crowd: ReaderBatch, val entry: ReadOwners.Entry?, val note: BoostableHolder?) {
    val owner: Any? get() = entry?.owner
}
