package baton.batch

import baton.BatonClock
import baton.batch.core.BatchLoad
import baton.batch.core.BatchRun
import baton.monitoring.Monitored
import baton.monitoring.Usage
import baton.monitoring.core.listIfNamed
import baton.resilience.Backoff
import baton.resilience.CircuitBreaker
import baton.resilience.Jitter
import baton.resilience.RateLimiter
import baton.resilience.RetryPolicy
import kotlinx.coroutines.currentCoroutineContext
import kotlinx.coroutines.flow.Flow

/**
 * Runs a task for each of many items, so many at a time, with retries, and reports what became of every item.
 *
 * ```
 * val batch = BatchProcessor(config, policy = RetryPolicy(retryIf = { it is IOException }), name = "import")
 * val report = batch.process(orders, onResult = { order, receipt -> store(receipt) }, maxFailures = 100) { post(it) }
 * report.failed.forEach { println("${it.item} ${it.attempts} ${it.cause}") }
 * ```
 *
 * It combines what can be had one by one: `processInChunks`, `retry`, a limiter, a breaker and a `MemoryGate`.
 *
 * *Bounds.* At most [ConcurrencyConfig.maxConcurrentTasks] tasks run, and at most that many results and
 * [ConcurrencyConfig.batchSize] more are held. While the heap of the JVM, with all other data in it, is above the bound
 * of [ConcurrencyConfig.Memory], one task at a time is started.
 *
 * *Order.* Items are taken in their order; on several threads, two tasks may begin the other way round. Results are
 * handed over in the order of the items, in batches: by the caller's coroutine, one at a time, while the tasks of the
 * next batch run. So no result is handed over before its batch is complete.
 *
 * *Failures.* A task that throws is tried again as the policy says, and then its item has failed; the others go on. By
 * default only an `IOException`, a `TimeoutException` and a `TimeoutCancellationException` are tried again, and no
 * [baton.Refusal]: a policy with another `retryIf` says what else is, such as the exceptions of a database. A failure
 * of `onResult` makes its item failed, without another attempt. So does a `CancellationException` of either while the
 * caller is active, an `Error`, and a breaker that refuses the call. A result that `failureResult` of the breaker
 * accepts is a failure, too: it is tried again, and never handed over; at last its item has failed with
 * [baton.resilience.ResultNotAcceptedException].
 *
 * *Cancellation.* A cancelled call cancels the running tasks and waits for them. There is no report then; results that
 * were handed over stay so.
 *
 * A processor has no state but that of its limiter, breaker and policy, whether memory is short, and its [usage]. So
 * any number of calls may use it at the same time, from any thread.
 *
 * @property config the numbers.
 * @param policy replaces [ConcurrencyConfig.retry], which repeats what [RetryPolicy.retryIf] accepts by default.
 * @param limiter each attempt takes a permit of it, once the breaker has admitted it. The wait for the permit counts
 *   for the breaker's slow calls and the policy's `attemptTimeout`. An attempt that the limiter refuses counts as
 *   nothing in the breaker.
 * @param breaker each attempt goes through it; one that it refuses takes no permit.
 * @property name shown by messages.
 * @param clock measures how long a call takes, and is that of the default policy; by default the clock of the
 *   dispatcher of the caller. See [BatonClock].
 */
public class BatchProcessor(
    public val config: ConcurrencyConfig = ConcurrencyConfig(),
    policy: RetryPolicy? = null,
    private val limiter: RateLimiter? = null,
    private val breaker: CircuitBreaker? = null,
    public override val name: String? = null,
    private val clock: BatonClock? = null,
) : Monitored {
    private val failureResult = breaker?.config?.failureResultOrNull
    private val policy =
        (policy ?: policyOf(config.retry, name, clock)).let {
            if (failureResult == null) it else it.copy(failAfterLast = true)
        }
    private val gate = config.memory.newGate()
    private val load = BatchLoad(config)

    init {
        listIfNamed(core = null)
    }

    /**
     * The items that are at work, of all calls, and [ConcurrencyConfig.maxConcurrentTasks]: each call may have so many.
     * An item is at work from its first attempt to the end of the last one, its waits for the limiter and between
     * attempts included. No caller is counted as waiting. A monitor raises its alert at
     * [ConcurrencyConfig.Monitoring.alertThresholdPercent]. Without [ConcurrencyConfig.Monitoring.enableMetrics]
     * nothing is counted.
     */
    override fun usage(): Usage = load.usage()

    /**
     * Runs [task] for each of the [items].
     *
     * @param onResult gets each item with its result. The item has succeeded when this returns normally.
     * @param items must be finite, as those that are left by [maxFailures] are taken, too.
     * @param maxFailures after so many failed items no task is begun; those that run are awaited, with their other
     *   attempts. At least 1.
     * @param onProgress called by the caller's coroutine for each item of a batch that is complete, and for the last
     *   time when all items have ended. An exception of it ends the call.
     * @throws IllegalArgumentException if [maxFailures] is below 1. Besides, only exceptions of the [items] themselves
     *   and of [onProgress] are thrown.
     */
    public suspend fun <T, R> process(
        items: Iterable<T>,
        onResult: suspend (T, R) -> Unit = { _, _ -> },
        maxFailures: Int = Int.MAX_VALUE,
        onProgress: (BatchProgress) -> Unit = {},
        task: suspend (T) -> R,
    ): BatchReport<T> = newRun(onResult, maxFailures, onProgress, task).process(items)

    /**
     * As the other, for the items of a flow, which is collected once. When [maxFailures] have failed, its collection is
     * cancelled.
     */
    public suspend fun <T, R> process(
        items: Flow<T>,
        onResult: suspend (T, R) -> Unit = { _, _ -> },
        maxFailures: Int = Int.MAX_VALUE,
        onProgress: (BatchProgress) -> Unit = {},
        task: suspend (T) -> R,
    ): BatchReport<T> = newRun(onResult, maxFailures, onProgress, task).process(items)

    private suspend fun <T, R> newRun(
        onResult: suspend (T, R) -> Unit,
        maxFailures: Int,
        onProgress: (BatchProgress) -> Unit,
        task: suspend (T) -> R,
    ): BatchRun<T, R> {
        require(maxFailures >= 1) { "maxFailures = $maxFailures, must be at least 1" }
        return BatchRun(
            config,
            gate,
            load,
            policy,
            failureResult,
            onResult,
            maxFailures,
            onProgress,
            clock,
            currentCoroutineContext(),
        ) { item, begin ->
            if (breaker == null) limited(item, begin, task) else breaker.protect { limited(item, begin, task) }
        }
    }

    private suspend fun <T, R> limited(item: T, begin: () -> Unit, task: suspend (T) -> R): R {
        limiter?.acquire()
        begin()
        return task(item)
    }

    override fun toString(): String {
        val label = if (name == null) "BatchProcessor" else "BatchProcessor '$name'"
        return "$label ($config)"
    }

    private companion object {
        fun policyOf(retry: ConcurrencyConfig.Retry, name: String?, clock: BatonClock?) =
            RetryPolicy(
                maxAttempts = retry.maxAttempts,
                backoff = Backoff.exponential(retry.baseDelay),
                jitter = Jitter.Factor(retry.jitterFactor),
                maxDelay = retry.maxDelay,
                clock = clock,
                name = name,
            )
    }
}
