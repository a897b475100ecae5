@file:JvmSynthetic

package baton.test

import baton.BatonClock
import baton.waiting.clock.VirtualClock
import java.time.Instant
import kotlinx.coroutines.test.StandardTestDispatcher
import kotlinx.coroutines.test.TestCoroutineScheduler

/**
 * The virtual time of this scheduler as a clock, for objects that cannot bind themselves to it, or whose dates a test
 * is to know.
 *
 * ```
 * @Test
 * fun `the report goes out at nine`() = runTest {
 *     val clock = testScheduler.asBatonClock(start = Instant.parse("2027-03-28T00:00:00Z"))
 *     val schedule = Schedule(config = ScheduleConfig(clock = clock)) { due -> report(due) }
 *     …
 * }
 * ```
 *
 * Its timers are events of the scheduler, in milliseconds, rounded up. May be used from any thread, as the scheduler
 * may.
 *
 * @param start the date of the present moment; by default the year 2000, in UTC.
 */
public fun TestCoroutineScheduler.asBatonClock(start: Instant = ManualClock().instant()): BatonClock =
    VirtualClock(this, StandardTestDispatcher(this), start)
