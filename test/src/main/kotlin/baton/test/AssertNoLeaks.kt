@file:JvmSynthetic

package baton.test

import baton.test.assertions.LeakCheck
import kotlin.contracts.ExperimentalContracts
import kotlin.contracts.InvocationKind
import kotlin.contracts.contract
import kotlin.time.Duration

/**
 * Runs [block], which may suspend, and then asserts that it has left nothing behind at any of [objects].
 *
 * ```
 * @Test
 * fun `a failed import gives its permits back`() = runTest {
 *     assertNoLeaks(uplink, pages) { runCatching { import(uplink, pages) } }
 * }
 * ```
 *
 * *Leaks.* Permits and locks that are held, elements that nobody has received, work of a wait group that is not done,
 * tasks and runs that go on, callers that wait, entries of a schedule: each of which there are more than before the
 * block. So a permit that was held before is no leak. One that the block takes while it returns another is not seen
 * either: only the numbers are compared.
 *
 * *When.* It looks when the block has ended, so the block waits for the coroutines that it starts. Where other threads
 * may then be at their last step, as in tests without virtual time, it looks again while something is left, for as long
 * as [patience] in real time. Meanwhile it blocks its thread.
 *
 * *Failures.* One error lists all that is left, as [shouldBeIdle] does. If the block throws, that is thrown, with the
 * error of the leaks as suppressed.
 *
 * @param objects each `Monitored`, or an object of the Java API with one behind it.
 * @throws AssertionError if something is left.
 * @throws IllegalArgumentException if there are no [objects], or nothing to assert about one of them; [block] has not
 *   run.
 */
@OptIn(ExperimentalContracts::class)
public inline fun <T> assertNoLeaks(vararg objects: Any, patience: Duration = Duration.ZERO, block: () -> T): T {
    contract { callsInPlace(block, InvocationKind.EXACTLY_ONCE) }
    val check = beginLeakCheck(objects)
    var failure: Throwable? = null
    try {
        return block()
    } catch (e: Throwable) {
        failure = e
        throw e
    } finally {
        endLeakCheck(check, failure, patience.inWholeNanoseconds)
    }
}

@PublishedApi @JvmSynthetic internal fun beginLeakCheck(objects: Array<out Any>): Any = LeakCheck(objects.asList())

@PublishedApi
@JvmSynthetic
internal fun endLeakCheck(check: Any, failure: Throwable?, patienceNanos: Long) {
    (check as LeakCheck).end(failure, patienceNanos)
}
