@file:JvmSynthetic

package baton.resilience

import kotlin.time.Duration

/**
 * Further attempts of a call whose first one is silent for long: the first success wins, and the others are cancelled.
 * It cuts the slowest answers of a service, for some per cent more calls, if [after] is about the time within which 95
 * of 100 calls have ended.
 *
 * Only for calls that may run several times at once, such as reads: the attempts overlap.
 *
 * It is for silence, not for failures: a first attempt that fails before [after] ends the call without a second one. To
 * ask again after a failure, put a retry around it, as a [ResiliencePipeline] does.
 *
 * @property after how long an attempt may be silent before the next one begins, above 0, rounded up to whole
 *   milliseconds. It begins when the first attempt has all permits that it waits for.
 * @property attempts how many there are at most, the first one included; at least 2.
 */
public class Hedge(public val after: Duration, public val attempts: Int = 2) {
    init {
        require(after.isPositive()) { "after = $after, must be above 0" }
        require(attempts >= 2) { "attempts = $attempts, must be at least 2" }
    }

    override fun toString(): String = "Hedge (after = $after, attempts = $attempts)"
}
