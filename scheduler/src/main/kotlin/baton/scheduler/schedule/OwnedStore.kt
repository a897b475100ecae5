package baton.scheduler.schedule

import baton.scheduler.ScheduleOwnedException
import kotlin.time.Duration

/** A store that several processes can reach, of which one at a time owns the schedule. */
internal interface OwnedStore {
    /**
     * Makes the schedule named [owner] the owner. It is to [renew] every [interval].
     *
     * @throws ScheduleOwnedException if another owner has renewed within three of its intervals.
     */
    suspend fun own(owner: String, interval: Duration)

    /** @throws ScheduleOwnedException if another owner has taken over. */
    suspend fun renew()
}
