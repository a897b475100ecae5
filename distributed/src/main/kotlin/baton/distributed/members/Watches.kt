package baton.distributed.members

import kotlin.time.Duration.Companion.milliseconds
import kotlin.time.Duration.Companion.nanoseconds

/**
 * The members for which locks wait here. A member whose document has not changed for a whole lease, by the clock of
 * this one, is dead: its document is removed first, so that it finds out by its next heartbeat. Confined to the
 * dispatcher of the cluster.
 */
internal class Watches(private val cluster: ClusterCore) {
    private val watched = HashMap<String, Watch>()
    private val dead = LinkedHashSet<String>()

    private class Watch(val leaseMillis: Long, val lookers: HashMap<String, () -> Unit>)

    fun isDead(id: String) = id in dead

    /** The lock [key] waits for the [members], with their leases; [onDeath] is called for each that dies. */
    fun watch(key: String, members: Map<String, Long>, onDeath: () -> Unit) {
        for ((id, watch) in watched) if (id !in members) watch.lookers.remove(key)
        for ((id, leaseMillis) in members) {
            if (id in dead) continue
            val watch = watched[id]
            if (watch == null) {
                watched[id] = Watch(leaseMillis, hashMapOf(key to onDeath)).also { begin(id, it) }
            } else {
                watch.lookers[key] = onDeath
            }
        }
    }

    private fun begin(id: String, watch: Watch) {
        cluster.launch {
            try {
                if (awaitDeath(id, watch)) {
                    dead += id
                    if (dead.size > MAX_DEAD) dead.remove(dead.first())
                    watch.lookers.values.toList().forEach { it() }
                }
            } finally {
                watched.remove(id)
            }
        }
    }

    /** False if no lock waits for the member any more. */
    private suspend fun awaitDeath(id: String, watch: Watch): Boolean {
        val key = cluster.keyOf("member", id)
        val lease = watch.leaseMillis.milliseconds.inWholeNanoseconds
        var version = -1L
        var since = 0L
        while (watch.lookers.isNotEmpty()) {
            try {
                val seen = cluster.calls.call { read(key) }.map { it.version() }.orElse(0)
                val now = cluster.clock.read()
                if (seen != version) {
                    version = seen
                    since = now
                } else if (now - since >= lease) {
                    if (seen == 0L || cluster.calls.call { delete(key, seen) }) return true
                    version = -1
                }
            } catch (e: Throwable) {
                if (!e.isOfStore) throw e
                cluster.calls.sleep((lease / POLLS).nanoseconds)
                continue
            }
            val left = if (version < 0) lease else since + lease - cluster.clock.read()
            cluster.calls.sleep(minOf(left.coerceAtLeast(1), lease / POLLS).nanoseconds)
        }
        return false
    }

    private companion object {
        const val POLLS = 3
        const val MAX_DEAD = 10_000
    }
}
