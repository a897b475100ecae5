package guide.troubleshooting

import baton.InternalBatonApi
import baton.batch.ConcurrencyConfig
import baton.channels.Channel
import baton.interop.AsyncRateLimiter
import baton.interop.PriorityExecutor
import baton.interop.TaskScope
import baton.monitoring.Monitor
import baton.parallel.mapLimit
import baton.resilience.RateLimiter
import baton.resilience.ResiliencePipeline
import baton.resilience.RetryPolicy
import baton.resilience.per
import baton.sync.Mutex
import baton.sync.Semaphore
import baton.test.ManualClock
import baton.waiting.threads.KotlinxNeed
import java.time.Duration
import java.util.Properties
import java.util.concurrent.RejectedExecutionException
import kotlin.time.Duration.Companion.seconds
import kotlinx.coroutines.CoroutineScope
import kotlinx.coroutines.Dispatchers
import kotlinx.coroutines.channels.Channel as KotlinxChannel
import kotlinx.coroutines.test.runTest

fun boundMessages(): List<Message> = bounds() + times() + versions()

private fun bounds() =
    listOf(
        message<IllegalArgumentException>("… = …, must be …") { Semaphore(permits = -1) },
        message<IllegalArgumentException>("permits = …, must be at most …, the permits of …") {
            Semaphore(1).acquire(2)
        },
        message<IllegalArgumentException>("permits = …, must be at most …, the burst of …") {
            RateLimiter.tokenBucket(1 per 1.seconds).acquire(2)
        },
        message<IllegalArgumentException>("weight = …, must be within 1..…, the limit") {
            listOf("a").mapLimit(5, weight = { 7 }) { it }
        },
        message<IllegalArgumentException>(
            "capacity = …, must be at least 0: this is Channel.… of kotlinx.coroutines, " +
                "the one of Baton is baton.channels.Channel.…"
        ) {
            Channel<Int>(KotlinxChannel.BUFFERED)
        },
        message<IllegalArgumentException>(
            "owner = …, must not be a Duration, which has no identity: is it a timeout?"
        ) {
            Mutex().lock(owner = 1.seconds)
        },
        message<IllegalArgumentException>("retry.attemptTimeout = …, must be infinite: give it to the pipeline") {
            ResiliencePipeline(retry = RetryPolicy(attemptTimeout = 1.seconds))
        },
        message<IllegalArgumentException>("unknown key …; the nearest known one is …") {
            ConcurrencyConfig.from(Properties().apply { this["baton.batchsize"] = "1" })
        },
    )

private fun times() =
    listOf(
        message<IllegalStateException>("… does not know the time of the test: …") {
            runTest { RateLimiter.tokenBucket(1 per 1.seconds).tryAcquire() }
        },
        message<IllegalStateException>("… has the clock …, for which no thread can wait: use its futures") {
            val limiter = AsyncRateLimiter.builder(1, Duration.ofHours(1)).clock(ManualClock()).build().blocking()
            repeat(2) { limiter.acquire() }
        },
    )

@OptIn(InternalBatonApi::class) // KotlinxNeed: a version that lacks something cannot be had here.
private fun versions() =
    listOf(
        message<IllegalStateException>("… do not work with kotlinx.coroutines …, which lacks …. Use …") {
            KotlinxNeed("tasks", "Missing.member()").require()
        },
        message<UnsupportedOperationException>("no virtual threads in JDK …, since 21") { TaskScope.openVirtual() },
        message<RejectedExecutionException>("shut down: …") {
            PriorityExecutor.create(1).apply { shutdown() }.execute {}
        },
        message<IllegalArgumentException>("name = …, is watched already by this Monitor") {
            val monitor = Monitor(CoroutineScope(Dispatchers.Default))
            monitor.use { repeat(2) { _ -> it.watch(Semaphore(1, name = "uplink"), name = "uplink") } }
        },
        message<IllegalStateException>("watch of … by a Monitor that is closed") {
            Monitor(CoroutineScope(Dispatchers.Default)).apply { close() }.watch(Semaphore(1))
        },
    )
