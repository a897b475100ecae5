@file:JvmName("PipelineBridge")

package baton.bridge

import baton.BatonClock
import baton.CallGuard
import baton.InternalBatonApi
import baton.resilience.CircuitBreaker
import baton.resilience.Hedge
import baton.resilience.RateLimiter
import baton.resilience.ResiliencePipeline
import baton.resilience.RetryPolicy
import baton.resilience.attempts.CallTrace
import baton.resilience.attempts.Passage
import baton.sync.Semaphore
import baton.waiting.clock.BoundClock
import baton.waiting.threads.Trampoline
import java.time.Duration
import java.util.concurrent.CompletableFuture
import java.util.function.Consumer
import java.util.function.Predicate
import kotlin.time.toJavaDuration
import kotlin.time.toKotlinDuration
import kotlinx.coroutines.DisposableHandle
import kotlinx.coroutines.future.await

// The internal API of pipelines for futures and threads, which have their own form of each layer.

/** The layers of a [pipeline]; null for one that is missing. */
@InternalBatonApi
public class PipelineLayers(private val pipeline: ResiliencePipeline) {
    @JvmField public val retry: RetryPolicy? = pipeline.retry
    @JvmField public val breaker: CircuitBreaker? = pipeline.breaker
    @JvmField public val limiter: CallGuard? = known("limiter", pipeline.limiter)
    @JvmField public val semaphore: CallGuard? = known("semaphore", pipeline.semaphore)
    @JvmField public val maxWait: Duration? = pipeline.maxWait.takeIf { it.isFinite() }?.toJavaDuration()

    /** A single attempt with the time limit, if there is one. */
    @JvmField public val limit: RetryPolicy = pipeline.limit
    @JvmField public val isTimed: Boolean = pipeline.attemptTimeout.isFinite()
    @JvmField public val hedgeAfter: Duration? = pipeline.hedge?.after?.toJavaDuration()
    @JvmField public val hedgeAttempts: Int = pipeline.hedge?.attempts ?: 1
    @JvmField public val failureResult: Predicate<Any?>? = pipeline.failureResult?.let { Predicate(it) }

    private fun known(layer: String, guard: CallGuard?): CallGuard? {
        require(guard == null || guard is RateLimiter || guard is Semaphore || guard is FutureGuard) {
            "$layer = $guard, must be a RateLimiter, a Semaphore or a guard of Java: another one suspends"
        }
        return guard
    }

    /** Runs [action] once [millis] have passed. */
    public fun schedule(millis: Long, action: Runnable): DisposableHandle =
        BoundClock(pipeline.clock).schedule(millis, action)

    /** A call that begins; null if no listener wants to know it. */
    public fun watch(): CallWatch? = pipeline.newTrace(null)?.let { CallWatch(pipeline, it) }

    override fun toString(): String = pipeline.toString()
}

/** A guard of an application in Java. Coroutines wait for its futures, and run their block themselves. */
@InternalBatonApi
public abstract class FutureGuard : CallGuard {
    /**
     * Requests admission of one call. The value is closed when the call has ended, or as soon as it arrives if the
     * future was cancelled before.
     *
     * @param maxWait null for no limit
     */
    public abstract fun admit(maxWait: Duration?): CompletableFuture<out AutoCloseable>

    override suspend fun <T> guarded(maxWait: kotlin.time.Duration, block: suspend () -> T): T {
        val limit = maxWait.coerceAtLeast(kotlin.time.Duration.ZERO).takeIf { it.isFinite() }
        val admission = admit(limit?.toJavaDuration())
        val held =
            try {
                admission.await()
            } catch (e: Throwable) {
                admission.thenAccept { held ->
                    Trampoline.guarded { held.close() }
                } // admitted just before the cancellation
                throw e
            }
        return held.use { block() }
    }
}

/** One call, for the listeners. */
@InternalBatonApi
public class CallWatch internal constructor(private val pipeline: ResiliencePipeline, private val trace: CallTrace) {
    /** The latest passage. A future may say that it has ended only after the next one or the call's end. */
    @Volatile private var latest: Passage? = null

    /** An attempt of the retry begins. */
    public fun passage(): PassageWatch {
        latest?.endWait()
        return PassageWatch(Passage(trace).also { latest = it })
    }

    /** A further attempt of a hedge begins. */
    public fun begun(): Unit = trace.begun()

    public fun succeeded(value: Any?) {
        latest?.endWait()
        pipeline.succeeded(trace, value)
    }

    public fun failed(failure: Throwable, isActive: Boolean) {
        latest?.endWait()
        pipeline.failed(trace, failure, isActive)
    }
}

/** An attempt of the retry. */
@InternalBatonApi
public class PassageWatch internal constructor(private val passage: Passage) {
    public fun begun(): Unit = passage.begun()

    public fun ended(): Unit = passage.endWait()
}

/** The settings of a [ResiliencePipeline] in Java's types, for a builder. */
@InternalBatonApi
public class PipelineSettings : Cloneable {
    @JvmField public var retry: RetryPolicy? = null
    @JvmField public var breaker: CircuitBreaker? = null
    @JvmField public var limiter: CallGuard? = null
    @JvmField public var semaphore: CallGuard? = null
    @JvmField public var maxWait: Duration? = null
    @JvmField public var attemptTimeout: Duration? = null
    @JvmField public var clock: BatonClock? = null
    private var hedge: Hedge? = null

    public fun hedge(after: Duration, attempts: Int) {
        hedge = Hedge(after.toKotlinDuration(), attempts)
    }

    /** A changed copy; throws if a pipeline refuses its settings. */
    public fun with(change: Consumer<PipelineSettings>): PipelineSettings {
        val changed = clone() as PipelineSettings
        change.accept(changed)
        changed.toPipeline(null)
        return changed
    }

    public fun toPipeline(name: String?): ResiliencePipeline =
        ResiliencePipeline(
            name,
            retry,
            breaker,
            limiter,
            semaphore,
            hedge,
            maxWait?.toKotlinDuration() ?: kotlin.time.Duration.INFINITE,
            attemptTimeout?.toKotlinDuration() ?: kotlin.time.Duration.INFINITE,
            clock,
        )
}
