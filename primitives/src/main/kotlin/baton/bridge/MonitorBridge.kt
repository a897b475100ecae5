@file:JvmName("MonitorBridge")

package baton.bridge

import baton.BatonClock
import baton.InternalBatonApi
import baton.monitoring.Alert
import baton.monitoring.AlertRules
import baton.monitoring.Monitor
import baton.monitoring.Usage
import java.time.Duration
import java.util.concurrent.Executor
import java.util.function.Consumer
import java.util.function.Supplier
import kotlin.time.Duration.Companion.INFINITE
import kotlin.time.toJavaDuration
import kotlin.time.toKotlinDuration
import kotlinx.coroutines.CoroutineScope
import kotlinx.coroutines.asCoroutineDispatcher

/** A monitor whose looks run on [executor]. */
@InternalBatonApi
public fun start(
    every: Duration,
    rules: AlertRules,
    onAlert: Consumer<in Alert>,
    executor: Executor,
    clock: BatonClock?,
): Monitor =
    Monitor(CoroutineScope(executor.asCoroutineDispatcher()), every.toKotlinDuration(), rules, clock) {
        onAlert.accept(it)
    }

@InternalBatonApi
public fun rules(
    utilisation: Double,
    clearBelow: Double,
    after: Duration,
    longestWait: Duration,
    longestRun: Duration?,
): AlertRules =
    AlertRules(
        utilisation,
        clearBelow,
        after.toKotlinDuration(),
        longestWait.toKotlinDuration(),
        longestRun?.toKotlinDuration() ?: INFINITE,
    )

/** Java cannot call a constructor that has a kotlin.time.Duration among its parameters. */
@InternalBatonApi public fun usage(inUse: Long, capacity: Long): Usage = Usage(inUse, capacity)

/** As the other, with waiters. */
@InternalBatonApi
public fun usage(inUse: Long, capacity: Long, waiting: Int, longestWait: Duration): Usage =
    Usage(inUse, capacity, waiting, longestWait.toKotlinDuration(), peakWaiting = waiting)

@InternalBatonApi
public fun watch(monitor: Monitor, name: String, usage: Supplier<Usage?>): AutoCloseable =
    monitor.watch(name) { usage.get() ?: throw NullPointerException("the supplier of '$name' returned null") }

@InternalBatonApi public fun everyOf(monitor: Monitor): Duration = monitor.every.toJavaDuration()
