@file:JvmSynthetic

package baton.test

import baton.monitoring.Monitored
import baton.test.assertions.Expectations

// Assertions in the style of Kotest, which they do not need. Their errors name the object with its state, the
// callers that wait and, as far as they are known, the holders: with `-Dbaton.deadlocks=true` those of a mutex, a
// read-write lock and a semaphore of one permit, with the calls that took it. Java has them in `BatonAssertions`.

/**
 * Asserts that no caller waits for it and that nothing of it is held: no permit, no element, no task or run, no work of
 * a wait group. The rate of a limiter, the count of a latch and the entries of a schedule do not count as use.
 *
 * ```
 * semaphore.shouldBeIdle()
 * semaphore shouldHaveWaiters 2
 * ```
 *
 * @throws AssertionError if it is in use.
 */
public fun <M : Monitored> M.shouldBeIdle(): M = also { Expectations.idle(it) }

/**
 * Asserts that [count] callers wait for it: of a channel, those that send and those that receive; of a task scheduler,
 * its queued tasks.
 *
 * @throws AssertionError if there are more or fewer.
 * @throws IllegalArgumentException if [count] is negative.
 */
public infix fun <M : Monitored> M.shouldHaveWaiters(count: Int): M = also { Expectations.waiters(it, count) }

/**
 * Asserts that [amount] is in use, in the sense of its `usage()`.
 *
 * @throws AssertionError if it is more or less.
 * @throws IllegalArgumentException if [amount] is negative.
 */
public infix fun <M : Monitored> M.shouldHaveInUse(amount: Long): M = also { Expectations.inUse(it, amount) }

/**
 * Asserts that a semaphore, a channel, a rate limiter or a task scheduler is closed, or that a circuit breaker is in
 * its closed state.
 *
 * @throws AssertionError if it is not.
 * @throws IllegalArgumentException if it is none of these.
 */
public fun <M : Monitored> M.shouldBeClosed(): M = also { Expectations.closed(it) }
