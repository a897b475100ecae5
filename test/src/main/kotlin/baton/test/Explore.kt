package baton.test

import baton.test.interleaving.Body
import baton.test.interleaving.Exploration
import baton.test.interleaving.StepChoices

/**
 * Runs [body] under many orders of its coroutines, in virtual time, on the calling thread, and fails for the first
 * order in which it fails.
 *
 * ```
 * @Test
 * fun `two withdrawals leave no hole`() = explore(runs = 2_000) {
 *     val account = Account(100)
 *     launch(CoroutineName("a")) { account.withdraw(70) }
 *     launch(CoroutineName("b")) { account.withdraw(70) }
 *     afterwards { check(account.balance + account.paid == 100) }
 * }
 * ```
 *
 * *Steps.* A coroutine runs alone until it suspends, or calls a primitive of Baton that may suspend, such as
 * `Mutex.lock`, `Semaphore.acquire` or `Channel.send`: then one of those that are ready goes on. Calls that never
 * suspend, such as `tryAcquire()`, `release` and `trySend`, and `select` are no such points, nor are calls of other
 * libraries that happen not to suspend. The first run takes the coroutines in the order in which they became ready, and
 * lets each call follow at once, as usual. The others take turns between random orders, PCT (Burckhardt et al.,
 * ASPLOS 2010) and orders that differ from the usual one in as few choices as possible. Where there are at most a third
 * as many orders as [runs], each is tried, and the exploration ends.
 *
 * *Time.* It is virtual, and moves to the next timer once no coroutine is ready. Timers that are due together fire in
 * any order. An object that measures time without a clock of its own, such as a `RateLimiter`, binds itself to it.
 *
 * *Failure.* A run fails if the body, a coroutine that it launched, or a check of [ExploreScope.afterwards] throws; if
 * nothing can go on although the body has not ended; and if it takes more than 100,000 steps. The error has the seed,
 * the fewest unusual choices that still fail, and the story of that run: which coroutine went on at which line, in
 * order. It names the call of [replay] that runs this order alone.
 *
 * *Body.* It runs many times, so it must make the objects that it changes. Its steps may depend on nothing but the
 * order: not on real time, random numbers, or hash codes. Where a failure does not repeat for that reason, the error
 * says so. All coroutines must run on the dispatcher of the body, which they inherit; code that takes a dispatcher gets
 * `coroutineContext[ContinuationInterceptor] as CoroutineDispatcher`. A thread that resumes one of them is recognised
 * if it comes within 0.2 s; later than that, the wait for it looks like a deadlock.
 *
 * *Limits.* Two coroutines never run at the same time, so data races within code that does not suspend are not found. A
 * coroutine that blocks its thread, or loops without suspending, blocks the exploration.
 *
 * @param runs how many orders to try, at least 1.
 * @param seed where the orders come from; null for another one each time. An error names its seed.
 * @param cancels whether most runs also cancel one of the launched coroutines, before it starts or at one of its
 *   suspension points. That alone is no failure.
 * @throws AssertionError for the first order that fails, with the failure as its cause.
 * @throws IllegalStateException if a coroutine of the body runs on another thread, or is resumed by one.
 * @throws InterruptedException if the thread is interrupted, say by a time limit of the test; asked before each run.
 */
public fun explore(
    runs: Int = 1_000,
    seed: Long? = null,
    cancels: Boolean = false,
    body: suspend ExploreScope.() -> Unit,
) {
    require(runs >= 1) { "runs = $runs, must be at least 1" }
    Exploration(bodyOf(body)).run(runs, seed, cancels)
}

/**
 * Runs [body] once, in the order that an error of [explore] names in its `replay("…")`; an empty string stands for the
 * usual order. Fails as [explore] does, with the story of the run.
 *
 * @throws IllegalArgumentException if [choices] is no such order, or none of this body: after a change of the body,
 *   [explore] is to run again.
 */
public fun replay(choices: String, body: suspend ExploreScope.() -> Unit) {
    Exploration(bodyOf(body)).replay(StepChoices.parse(choices))
}

private fun bodyOf(body: suspend ExploreScope.() -> Unit): Body = Body { checks ->
    val scope = this
    body(
        object : ExploreScope {
            override val coroutineContext
                get() = scope.coroutineContext

            override fun afterwards(check: () -> Unit) {
                checks += check
            }
        }
    )
}
