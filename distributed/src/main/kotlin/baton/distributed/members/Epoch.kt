package baton.distributed.members

import baton.distributed.StoredDocument
import baton.distributed.rules.EpochState
import kotlin.random.Random
import kotlin.time.Duration.Companion.nanoseconds

/**
 * The document by which the members know that the store has not lost all the others, as [cluster] has seen it last.
 * Confined to the dispatcher of the cluster.
 */
internal class Epoch(private val cluster: ClusterCore, private val random: Random) {
    private val key = cluster.keyOf("epoch")
    private val calls
        get() = cluster.calls

    private var seen: EpochState? = null
    private var mayBeNew = true

    /** Whether permits may be granted. */
    val isRested: Boolean
        get() = seen?.isRested == true

    /** The documents that have vanished alone. */
    val gone: List<EpochState.Gone>
        get() = seen?.gone.orEmpty()

    /** Takes the epoch of the store as that of the cluster. */
    suspend fun adopt() {
        while (true) {
            seen = read() ?: create()
            mayBeNew = false
            if (seen != null) return
        }
    }

    /** Whether the epoch is that of the cluster still. If not, the cluster has none. */
    suspend fun isSame(): Boolean {
        val id = seen?.id
        seen = read()?.takeIf { it.id == id }
        return seen != null
    }

    private suspend fun read(): EpochState? {
        val document = calls.call { read(key) }.orElse(null) ?: return null
        return parsed(key, document) { EpochState.parse(it) }
    }

    /** Null if the document vanishes at once. */
    private suspend fun create(): EpochState? {
        // A store that was new has lost its documents if its epoch is missing once more.
        val created = EpochState(randomText(), mayBeNew && calls.store.isKnownNew, emptyList())
        val version = calls.call { now() }
        calls.call { compareAndSet(key, 0, StoredDocument(version, created.toText()), emptyList()) }
        return read()
    }

    private fun randomText() = random.nextLong().toULong().toString(Character.MAX_RADIX)

    private suspend fun change(id: String, change: (EpochState) -> EpochState): EpochState? {
        while (true) {
            val document = calls.call { read(key) }.orElse(null) ?: return null
            val before = parsed(key, document) { EpochState.parse(it) }
            if (before.id != id) return null
            val after = change(before)
            if (after == before) return before
            val next = StoredDocument(document.version() + 1, after.toText())
            if (calls.call { compareAndSet(key, document.version(), next, emptyList()) }.isStored) return after
        }
    }

    /** Nothing is granted until the store has kept its documents for a lease, by the clock of this member. */
    suspend fun rest() {
        val began = seen ?: return
        val end = cluster.clock.read() + restTime()
        while (!began.isRested && cluster.clock.read() < end) {
            calls.sleep(minOf((end - cluster.clock.read()).nanoseconds, cluster.lease / LOOKS))
            val now = read()
            if (now == null || now.id != began.id) return
            seen = now
            if (now.isRested) return
        }
        if (!began.isRested) seen = change(began.id) { it.rested() }
    }

    private fun restTime() = cluster.lease.inWholeNanoseconds / REST_TENTHS * (REST_TENTHS + 1)

    /**
     * The document [lock] has vanished, or the first user of the lock is about to create it. Its holders look for it at
     * their next heartbeat, because the epoch marks it. Waits for a lease, in which each of them has looked or is over.
     * True if the caller may create the document now: it has removed the mark that it has seen at the beginning. So no
     * other member has created the document since, of which a second loss would be taken for the first.
     */
    suspend fun restOf(lock: String): Boolean {
        val id = seen?.id ?: return false
        val mark = randomText()
        val seenMark = change(id) { it.marked(lock, mark) }?.markOf(lock) ?: return false
        val end = cluster.clock.read() + restTime()
        while (true) {
            if (calls.call { read(lock) }.isPresent) {
                change(id) { it.unmarked(lock, mark) }
                return false
            }
            val left = end - cluster.clock.read()
            if (left <= 0) break
            calls.sleep(minOf(left.nanoseconds, cluster.lease / POLLS))
        }
        var isMine = false
        change(id) {
            isMine = it.markOf(lock) == seenMark
            it.unmarked(lock, seenMark)
        }
        return isMine
    }

    /** The document that was [gone] is there. */
    suspend fun unmark(gone: EpochState.Gone) {
        val id = seen?.id ?: return
        change(id) { it.unmarked(gone.key(), gone.mark()) }
    }

    private companion object {
        const val LOOKS = 3
        const val POLLS = 10
        const val REST_TENTHS = 10
    }
}
