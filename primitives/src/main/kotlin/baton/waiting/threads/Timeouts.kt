package baton.waiting.threads

import baton.InternalBatonApi
import java.util.concurrent.Future
import java.util.concurrent.RunnableScheduledFuture
import java.util.concurrent.ScheduledThreadPoolExecutor
import java.util.concurrent.TimeUnit
import java.util.concurrent.atomic.AtomicReference
import java.util.concurrent.locks.LockSupport
import kotlin.coroutines.ContinuationInterceptor
import kotlin.coroutines.CoroutineContext
import kotlin.coroutines.EmptyCoroutineContext
import kotlin.time.Duration
import kotlin.time.Duration.Companion.milliseconds
import kotlinx.coroutines.Delay
import kotlinx.coroutines.DisposableHandle
import kotlinx.coroutines.InternalCoroutinesApi

/**
 * Timers, and the one place that decides where the consequences of a timeout run. Grain: one millisecond, rounded up.
 *
 * A timeout withdraws its waiter, which may grant other waiters: their callbacks and coroutines may run on the
 * withdrawing thread, and may block it. So a timer thread that is shared never withdraws. It hands the expiry to
 * [HandOverExecutor].
 * - A coroutine's timeout runs on its dispatcher's clock if it has one, so that a test's virtual time counts. Such a
 *   clock fires on a thread of the dispatcher (a test's, a user interface's, a scheduled pool's), and the expiry runs
 *   there. But kotlinx.coroutines lends its one timer thread to dispatchers that have no clock, such as
 *   `limitedParallelism` views, executors without a schedule and the event loop of `runBlocking`. No type tells which
 *   clock a dispatcher has, so the expiry looks at its thread.
 * - All other timeouts run on a daemon thread of our own, which ends when no timer has been set for a second.
 *
 * kotlinx.coroutines' [Delay] is internal, and so is the name of its thread. Tested against 1.8.1, 1.10.2 and 1.11.0.
 */
@InternalBatonApi
@OptIn(InternalCoroutinesApi::class)
public object Timeouts {
    private const val KOTLINX_TIMER = "kotlinx.coroutines.DefaultExecutor"
    private const val IDLE_SECONDS = 1L

    /** A thread of a dispatcher may have other work. */
    private const val LONGEST_PAUSE_MILLIS = 10L

    private val NEED =
        KotlinxNeed("timed waits of coroutines", "Delay.invokeOnTimeout(long, Runnable, CoroutineContext)")

    /** Empty until the first timer is set: a program that only waits needs none. */
    private val ourTimer = AtomicReference<OurTimer?>()

    /** Two first timers may each make a pool. The one that is not kept has no thread. */
    private fun ourTimer(): OurTimer {
        ourTimer.get()?.let {
            return it
        }
        val new = OurTimer()
        return if (ourTimer.compareAndSet(null, new)) new else ourTimer()
    }

    /** Runs [action] once [timeout] has passed. Null for a timeout that never ends. */
    @JvmStatic
    public fun schedule(timeout: Duration, context: CoroutineContext, action: Runnable): DisposableHandle? {
        if (timeout.isInfinite()) return null
        if (context === EmptyCoroutineContext) return schedule(wholeMillis(timeout), action)
        NEED.require()
        val clock = context[ContinuationInterceptor] as? Delay ?: return schedule(wholeMillis(timeout), action)
        return clock.invokeOnTimeout(wholeMillis(timeout), { offSharedTimer(action) }, context)
    }

    /** Runs [action] on [HandOverExecutor] once [millis] have passed. */
    @JvmStatic
    public fun schedule(millis: Long, action: Runnable): DisposableHandle = onTimerThread(millis) { handOver(action) }

    /**
     * As [schedule], for a `Delay`, which must not throw: kotlinx would leave a child behind, for whose end its parent
     * would wait for ever. If there is no thread for the timer, that of the caller pauses, and the time is over.
     */
    internal fun scheduleAnyhow(millis: Long, action: RunOnce): DisposableHandle =
        try {
            schedule(millis, action)
        } catch (_: Throwable) {
            LockSupport.parkNanos(minOf(millis, LONGEST_PAUSE_MILLIS) * 1_000_000)
            action.run()
            DisposableHandle {}
        }

    /**
     * Runs [action], which must neither block nor lead to user code, on the timer thread. If this throws, for want of a
     * thread, of memory or of stack, the action never runs.
     */
    public fun onTimerThread(millis: Long, action: Runnable): DisposableHandle {
        requireStack() // An overflow would leave the lock of all timers locked: it is one of the JDK.
        val timer = Timer(action)
        try {
            ourTimer().schedule(timer, millis, TimeUnit.MILLISECONDS)
        } catch (e: Throwable) {
            // The pool starts a thread after it has queued the timer, and leaves it queued if there is none to be had.
            if (timer.cancel()) throw e
        }
        return timer
    }

    private class OurTimer : ScheduledThreadPoolExecutor(1, { HandOverExecutor.daemon("baton-timer", it) }) {
        init {
            removeOnCancelPolicy = true
            setKeepAliveTime(IDLE_SECONDS, TimeUnit.SECONDS)
            allowCoreThreadTimeOut(true)
        }

        override fun <V> decorateTask(runnable: Runnable, task: RunnableScheduledFuture<V>) =
            task.also { (runnable as Timer).task = it }
    }

    /** Taken once it runs or is cancelled: a [Future] that runs can be cancelled, too. */
    private class Timer(private val action: Runnable) : Once(), Runnable, DisposableHandle {
        /** Written before it is queued. */
        @Volatile var task: Future<*>? = null

        /** A [Future] would keep an exception to itself. */
        override fun run() {
            if (take()) Trampoline.guarded { action.run() }
        }

        /** False if it has run, or runs. */
        fun cancel(): Boolean = take().also { if (it) leaveQueue() }

        /** Short of stack it stays in the queue, and does nothing when its time has come. See [onTimerThread]. */
        private fun leaveQueue() {
            try {
                requireStack()
            } catch (_: StackOverflowError) {
                return
            }
            task?.cancel(false)
        }

        override fun dispose() {
            cancel()
        }
    }

    /** Runs [action] on this thread, or on [HandOverExecutor] if this is kotlinx.coroutines' timer thread. */
    internal fun offSharedTimer(action: Runnable) {
        if (isOnSharedTimer()) handOver(action) else action.run()
    }

    /** Whether this is kotlinx.coroutines' timer thread: a `withTimeout` may cancel there. */
    @JvmStatic
    public fun isOnSharedTimer(): Boolean {
        val thread = Thread.currentThread()
        // That thread is a plain one. The workers of dispatchers, whose class is their own, need not look at their
        // name.
        return thread.javaClass === Thread::class.java && thread.name.startsWith(KOTLINX_TIMER)
    }

    /** Runs [action] on [HandOverExecutor]; here if the system has no thread left. */
    public fun handOver(action: Runnable) {
        try {
            HandOverExecutor.execute(action)
        } catch (_: Throwable) {
            action.run()
        }
    }

    private fun wholeMillis(timeout: Duration): Long {
        val millis = timeout.inWholeMilliseconds
        return if (millis < Long.MAX_VALUE && millis.milliseconds < timeout) millis + 1 else millis
    }
}
