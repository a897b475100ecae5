package baton.distributed

import java.time.Instant

/**
 * A member that has permits of a lock, in use there or kept for the next use, as another member has seen it.
 *
 * @property member its name, or a random text if it has none.
 * @property permits how many it has.
 * @property since when it had none, by the wall clock of one of the members.
 */
public class LockHolder internal constructor(public val member: String, public val permits: Int, since: Long) {
    public val since: Instant = Instant.ofEpochMilli(since)

    override fun toString(): String = "'$member' since $since" + if (permits == 1) "" else " ($permits permits)"
}
