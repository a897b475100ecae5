package guide.troubleshooting

import baton.PermitTimeoutException
import baton.Priority
import baton.TooManyKeysException
import baton.channels.Channel
import baton.channels.ChannelClosedException
import baton.interop.AsyncBarrier
import baton.interop.AsyncChannel
import baton.interop.AsyncCircuitBreaker
import baton.interop.AsyncLatch
import baton.interop.AsyncMutex
import baton.interop.AsyncReadWriteLock
import baton.interop.AsyncTaskScheduler
import baton.interop.AsyncWaitGroup
import baton.interop.CancellableFunction
import baton.interop.CancellableFuture
import baton.interop.TaskScope
import baton.resilience.AttemptTimeoutException
import baton.resilience.BreakerState
import baton.resilience.CircuitBreaker
import baton.resilience.CircuitBreakerConfig
import baton.resilience.CircuitOpenException
import baton.resilience.RateLimitedException
import baton.resilience.RateLimiter
import baton.resilience.RateLimiterClosedException
import baton.resilience.ResiliencePipeline
import baton.resilience.RetryPolicy
import baton.resilience.per
import baton.resilience.retry
import baton.scheduler.OnFullQueue
import baton.scheduler.Schedule
import baton.scheduler.ScheduleConfig
import baton.scheduler.SchedulerClosedException
import baton.scheduler.TaskDeadlineException
import baton.scheduler.TaskRejectedException
import baton.scheduler.TaskScheduler
import baton.scheduler.TaskSchedulerConfig
import baton.scheduler.TaskShedException
import baton.scheduler.TaskTimeoutException
import baton.scheduler.Trigger
import baton.sync.BarrierTimeoutException
import baton.sync.Mutex
import baton.sync.ReadWriteLock
import baton.sync.Semaphore
import baton.sync.SemaphoreClosedException
import baton.sync.Semaphores
import baton.sync.withLock
import baton.sync.withPermit
import baton.sync.withRead
import baton.sync.withWrite
import baton.tasks.TeardownTimeoutException
import baton.tasks.cancellableTask
import java.time.Duration as JavaDuration
import java.util.concurrent.CompletableFuture
import java.util.concurrent.CountDownLatch
import java.util.concurrent.Executors
import java.util.concurrent.TimeUnit
import java.util.concurrent.TimeoutException
import kotlin.time.Duration.Companion.hours
import kotlin.time.Duration.Companion.milliseconds
import kotlinx.coroutines.CompletableDeferred
import kotlinx.coroutines.CoroutineScope
import kotlinx.coroutines.CoroutineStart
import kotlinx.coroutines.Dispatchers
import kotlinx.coroutines.SupervisorJob
import kotlinx.coroutines.awaitCancellation
import kotlinx.coroutines.cancel
import kotlinx.coroutines.coroutineScope
import kotlinx.coroutines.delay
import kotlinx.coroutines.launch

private val SHORT = 1.milliseconds
private val BRIEF = JavaDuration.ofMillis(1)

fun waitMessages(): List<Message> = timeouts() + timeoutsOfJava() + refusals() + refusalsOfTasks()

/** Runs [block] in a scope that ends with it, whatever runs in it. */
private suspend fun <T> inScope(block: suspend CoroutineScope.() -> T): T {
    val scope = CoroutineScope(SupervisorJob() + Dispatchers.Default)
    try {
        return scope.block()
    } finally {
        scope.cancel()
    }
}

private fun timeouts() =
    listOf(
        message<PermitTimeoutException>("no permit within … from …") {
            Semaphore(1, acquired = 1).withPermit(timeout = SHORT) {}
        },
        message<PermitTimeoutException>("not locked within …: …") { Mutex(locked = true).withLock(timeout = SHORT) {} },
        message<PermitTimeoutException>("not locked to read within …: …") {
            val lock = ReadWriteLock()
            lock.withWrite { lock.withRead(timeout = SHORT) {} }
        },
        message<PermitTimeoutException>("not locked to write within …: …") {
            val lock = ReadWriteLock()
            lock.withRead { lock.withWrite(timeout = SHORT) {} }
        },
        message<AttemptTimeoutException>("attempt … of … not done within …") {
            retry(RetryPolicy(attemptTimeout = SHORT, retryIf = { false })) { delay(1.hours) }
        },
        message<AttemptTimeoutException>("an attempt of … not done within …") {
            ResiliencePipeline(attemptTimeout = SHORT).call { delay(1.hours) }
        },
        message<TaskTimeoutException>("… has not ended within …") {
            inScope { TaskScheduler(this, maxConcurrency = 1).run(timeout = SHORT) { delay(1.hours) } }
        },
        message<TaskTimeoutException>("the run of … took longer than …") {
            val failure = CompletableDeferred<Throwable>()
            val config = ScheduleConfig(runTimeout = { SHORT }, onFailure = { _, e -> failure.complete(e) })
            inScope {
                val schedule = Schedule<String>(config = config) { delay(1.hours) }
                launch { schedule.run() }
                schedule.put("report", Trigger.every(1.hours))
                schedule.triggerNow("report")
                failure.await()
            }
        },
        message<TeardownTimeoutException>("the teardowns of … took longer than …") {
            inScope {
                val task =
                    cancellableTask<Unit>(start = CoroutineStart.UNDISPATCHED, teardownTimeout = SHORT) {
                        onTeardown { delay(1.hours) }
                        error("failed")
                    }
                runCatching { task.await() }.exceptionOrNull()?.suppressed?.first()
            }
        },
    )

private fun timeoutsOfJava() =
    listOf(
        message<PermitTimeoutException>("not upgraded within …: …") {
            val lock = AsyncReadWriteLock.create()
            lock.lockRead().join()
            lock.lockUpgradable().join().upgrade(BRIEF).join()
        },
        message<PermitTimeoutException>("not sent within …: …") {
            AsyncChannel.create<String>(0).send("element", BRIEF).join()
        },
        message<PermitTimeoutException>("no place within …: …") {
            val channel = AsyncChannel.create<String>(1)
            channel.trySend("element")
            channel.reserve(BRIEF).join()
        },
        message<TimeoutException>("nothing received within …: …") {
            AsyncChannel.create<String>(1).receive(BRIEF).join()
        },
        message<PermitTimeoutException>("no slot within …: …") {
            val scheduler = AsyncTaskScheduler.create(1)
            scheduler.pause()
            try {
                scheduler.blocking().call(Priority.NORMAL, BRIEF) { "never" }
            } finally {
                scheduler.closeNow()
            }
        },
        message<BarrierTimeoutException>("not all arrived within …: …") { AsyncBarrier.create(2).arrive(BRIEF).join() },
        message<TimeoutException>("not open within …: …") { AsyncLatch.create(1).await(BRIEF).join() },
        message<TimeoutException>("not at zero within …: …") {
            AsyncWaitGroup.create().apply { add(1) }.await(BRIEF).join()
        },
        message<TimeoutException>("not signalled within …: …") {
            val mutex = AsyncMutex.create()
            mutex.newCondition().await(mutex.lock().join(), BRIEF).join()
        },
        message<TimeoutException>("not closed within …: …") {
            val breaker = AsyncCircuitBreaker.create("callee")
            breaker.trip()
            breaker.awaitClosed(BRIEF).join()
        },
        message<TimeoutException>("not ended within …: …") {
            val threads = Executors.newCachedThreadPool()
            try {
                TaskScope.open(threads).use { scope ->
                    val end = CountDownLatch(1)
                    scope.fork<Boolean>(
                        CancellableFunction { token ->
                            token.onCancel(end::countDown)
                            end.await(1, TimeUnit.HOURS)
                        }
                    )
                    scope.join(BRIEF)
                }
            } finally {
                threads.shutdownNow()
            }
        },
        message<TimeoutException>("not done within …") {
            CancellableFuture.of(CompletableFuture<String>()).orTimeout(BRIEF).join()
        },
    )

private fun refusals() =
    listOf(
        message<CircuitOpenException>("… is open, retry in …") {
            val breaker = CircuitBreaker()
            breaker.openFor(1.hours)
            breaker.protect {}
        },
        message<CircuitOpenException>("… is half open and its … probes are out") {
            val breaker = CircuitBreaker(CircuitBreakerConfig(probes = 1))
            breaker.openFor(SHORT)
            coroutineScope {
                val probe = launch {
                    while (breaker.state != BreakerState.HALF_OPEN) {
                        runCatching { breaker.protect { awaitCancellation() } }
                        delay(SHORT)
                    }
                }
                try {
                    while (breaker.state != BreakerState.HALF_OPEN) delay(SHORT)
                    breaker.protect {}
                } finally {
                    probe.cancel()
                }
            }
        },
        message<CircuitOpenException>("… is forced open") { CircuitBreaker().apply { trip() }.protect {} },
        message<RateLimitedException>("… callers wait already for …, retry in …") {
            val limiter = RateLimiter.tokenBucket(1 per 1.hours, maxWaiting = 0)
            repeat(2) { limiter.acquire() }
        },
        message<SemaphoreClosedException>("… is closed") { Semaphore(1).apply { close() }.acquire() },
        message<RateLimiterClosedException>("… is closed") {
            RateLimiter.tokenBucket(1 per 1.hours).apply { close() }.acquire()
        },
        message<ChannelClosedException>("… is closed") { Channel<Int>().apply { close() }.send(1) },
        message<ChannelClosedException>("… is cancelled") { Channel<Int>().apply { cancel() }.send(1) },
        message<TooManyKeysException>("no place for another key, maxKeys = … are in use: …") {
            val perHost = Semaphores<String>(permits = 1, maxKeys = 1)
            perHost.withPermit("a") { perHost.withPermit("b") {} }
        },
    )

private fun refusalsOfTasks() =
    listOf(
        message<TaskRejectedException>("no room for …, capacity = …: …") {
            inScope { paused(OnFullQueue.REJECT).schedule {}.await() }
        },
        message<TaskShedException>("… made room for a more urgent one, capacity = …: …") {
            inScope {
                val scheduler = paused(OnFullQueue.DROP_LOWEST, capacity = 1)
                val shed = scheduler.schedule(Priority.LOW) {}
                scheduler.schedule(Priority.HIGH) {}
                shed.await()
            }
        },
        message<TaskDeadlineException>("… was not started within …: …") {
            inScope { paused(OnFullQueue.SUSPEND, capacity = 1).schedule(deadline = SHORT) {}.await() }
        },
        message<SchedulerClosedException>("… was not started: …") {
            inScope { TaskScheduler(this, 1).apply { close() }.schedule {}.await() }
        },
    )

private fun CoroutineScope.paused(onFull: OnFullQueue, capacity: Int = 0) =
    TaskScheduler(this, maxConcurrency = 1, config = TaskSchedulerConfig(capacity = capacity, onFull = onFull)).apply {
        pause()
    }
