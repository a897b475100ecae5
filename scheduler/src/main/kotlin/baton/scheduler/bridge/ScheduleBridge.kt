@file:JvmName("ScheduleBridge")

package baton.scheduler.bridge

import baton.BatonClock
import baton.InternalBatonApi
import baton.resilience.RetryPolicy
import baton.scheduler.Due
import baton.scheduler.Misfire
import baton.scheduler.Overlap
import baton.scheduler.Schedule
import baton.scheduler.ScheduleConfig
import baton.scheduler.ScheduleStore
import baton.scheduler.Trigger
import java.time.Duration
import java.time.Instant
import java.util.concurrent.CompletableFuture
import java.util.concurrent.CompletionStage
import java.util.concurrent.Executor
import java.util.function.BiConsumer
import java.util.function.Consumer
import java.util.function.Function
import kotlin.coroutines.Continuation
import kotlin.coroutines.CoroutineContext
import kotlin.coroutines.EmptyCoroutineContext
import kotlin.coroutines.intrinsics.COROUTINE_SUSPENDED
import kotlin.coroutines.intrinsics.startCoroutineUninterceptedOrReturn
import kotlin.coroutines.resume
import kotlin.coroutines.resumeWithException
import kotlin.coroutines.startCoroutine
import kotlin.time.Duration as KotlinDuration
import kotlin.time.toJavaDuration
import kotlin.time.toKotlinDuration
import kotlinx.coroutines.asCoroutineDispatcher
import kotlinx.coroutines.future.await
import kotlinx.coroutines.runInterruptible

// The internal API of schedules for Baton's Java API. Java cannot call functions with a kotlin.time.Duration.

@InternalBatonApi public fun firstDueOf(schedule: Schedule<*>): Instant? = schedule.firstDue()

@InternalBatonApi public fun every(period: Duration): Trigger = Trigger.every(period.toKotlinDuration())

@InternalBatonApi
public fun every(period: Duration, anchor: Instant): Trigger = Trigger.every(period.toKotlinDuration(), anchor)

@InternalBatonApi public fun fixedDelay(delay: Duration): Trigger = Trigger.fixedDelay(delay.toKotlinDuration())

/** The settings of a [ScheduleConfig] in Java's types, for a builder; each has its default. */
@InternalBatonApi
public class ScheduleSettings : Cloneable {
    private val defaults = ScheduleConfig()
    @JvmField public var misfire: Misfire = defaults.misfire
    @JvmField public var overlap: Overlap = defaults.overlap
    @JvmField public var resolution: Duration = defaults.resolution.toJavaDuration()
    @JvmField public var flushEvery: Duration = defaults.flushEvery.toJavaDuration()
    @JvmField public var resyncEvery: Duration = defaults.resyncEvery.toJavaDuration()
    @JvmField public var grace: Duration = defaults.grace.toJavaDuration()
    @JvmField public var triggers: Map<String, Trigger> = defaults.triggers
    @JvmField public var onFailure: BiConsumer<Any, in Throwable> = BiConsumer(defaults.onFailure)
    @JvmField public var clock: BatonClock? = null

    /** A null is no limit. */
    @JvmField public var runTimeout: Function<Any, out Duration?>? = null

    /** A null is no retry. */
    @JvmField public var retry: Function<Any, out RetryPolicy?>? = null

    /** A changed copy; throws if a configuration refuses its settings. */
    public fun with(change: Consumer<ScheduleSettings>): ScheduleSettings {
        val changed = clone() as ScheduleSettings
        change.accept(changed)
        changed.toConfig()
        return changed
    }

    public fun toConfig(): ScheduleConfig =
        ScheduleConfig(
            misfire,
            overlap,
            resolution.toKotlinDuration(),
            flushEvery.toKotlinDuration(),
            resyncEvery.toKotlinDuration(),
            grace.toKotlinDuration(),
            triggers,
            onFailure::accept,
            clock,
            timeouts(),
            retry?.let { policy -> { policy.apply(it) } } ?: defaults.retry,
        )

    private fun timeouts(): (Any) -> KotlinDuration {
        val timeout = runTimeout ?: return defaults.runTimeout
        return { timeout.apply(it)?.toKotlinDuration() ?: KotlinDuration.INFINITE }
    }
}

/** A schedule whose actions end when the stage of [action] has completed. Cancelling an action cancels its stage. */
@InternalBatonApi
public fun <K : Any> newSchedule(
    store: ScheduleStore<K>,
    maxConcurrency: Int,
    name: String?,
    config: ScheduleConfig,
    action: Function<in Due<@JvmSuppressWildcards K>, out CompletionStage<*>?>,
): Schedule<K> =
    Schedule(store, maxConcurrency, name, config) { due ->
        val stage = action.apply(due) ?: throw NullPointerException("the action has returned null for $due")
        stage.await()
    }

/** The action of a schedule that blocks its thread. */
@InternalBatonApi
public fun interface BlockingRun<K> {
    @Throws(Exception::class) public fun run(due: Due<@JvmSuppressWildcards K>)
}

/**
 * As [newSchedule], with actions that block a thread of [threads]. To cancel one is to interrupt it; its run ends when
 * it does.
 */
@InternalBatonApi
public fun <K : Any> newBlockingSchedule(
    store: ScheduleStore<K>,
    maxConcurrency: Int,
    name: String?,
    config: ScheduleConfig,
    threads: Executor,
    action: BlockingRun<K>,
): Schedule<K> {
    val dispatcher = threads.asCoroutineDispatcher()
    return Schedule(store, maxConcurrency, name, config) { due -> runInterruptible(dispatcher) { action.run(due) } }
}

/** The calls of a [schedule] that wait, on [executor], each as a future. Cancelling such a future cancels no call. */
@InternalBatonApi
public class ScheduleCalls(private val schedule: Schedule<*>, executor: Executor) {
    private val dispatcher = executor.asCoroutineDispatcher()
    private val end = CompletableFuture<Void?>()

    /** Begins on the calling thread, so that a [shutdown] that follows waits for its end. */
    public fun start() {
        val end = CallEnd(dispatcher, end)
        val run: suspend () -> Unit = { schedule.run() }
        try {
            if (run.startCoroutineUninterceptedOrReturn(end) != COROUTINE_SUSPENDED) end.resume(Unit)
        } catch (e: Throwable) {
            end.resumeWithException(e)
        }
    }

    /** Completes with the end of the schedule. */
    public fun ended(): CompletableFuture<Void?> = CompletableFuture<Void?>().also(::completeAtEnd)

    /** A failure is not wrapped. */
    private fun completeAtEnd(future: CompletableFuture<Void?>) {
        end.whenComplete { _, e -> if (e == null) future.complete(null) else future.completeExceptionally(e) }
    }

    public fun flush(): CompletableFuture<Void?> = callOf(dispatcher) { schedule.flush() }

    public fun resync(): CompletableFuture<Void?> = callOf(dispatcher) { schedule.resync() }

    /** Completes as [ended]. */
    public fun shutdown(): CompletableFuture<Void?> {
        val future = CompletableFuture<Void?>()
        if (end.isDone) completeAtEnd(future)
        else callOf(dispatcher) { schedule.shutdown() }.whenComplete { _, _ -> completeAtEnd(future) }
        return future
    }
}

/** Runs [block], on this thread where [context] has no dispatcher. Cancelling the future has no effect on it. */
internal fun callOf(
    context: CoroutineContext = EmptyCoroutineContext,
    block: suspend () -> Unit,
): CompletableFuture<Void?> {
    val future = CompletableFuture<Void?>()
    block.startCoroutine(CallEnd(context, future))
    return future
}

private class CallEnd(override val context: CoroutineContext, private val future: CompletableFuture<Void?>) :
    Continuation<Unit> {
    override fun resumeWith(result: Result<Unit>) {
        result.fold({ future.complete(null) }, { future.completeExceptionally(it) })
    }
}
