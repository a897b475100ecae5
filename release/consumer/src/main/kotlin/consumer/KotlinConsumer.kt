package consumer

import baton.distributed.Cluster
import baton.distributed.InMemoryStore
import baton.distributed.redis.RedisStore
import baton.micrometer.BatonMetrics
import baton.monitoring.Monitor
import baton.resilience.RateLimiter
import baton.resilience.per
import baton.scheduler.TaskScheduler
import baton.shared.SharedRegion
import baton.shared.withLock
import baton.sync.Semaphore
import baton.sync.withPermit
import baton.test.ManualClock
import io.micrometer.core.instrument.simple.SimpleMeterRegistry
import java.nio.file.Files
import kotlin.time.Duration.Companion.seconds
import kotlinx.coroutines.coroutineScope
import kotlinx.coroutines.runBlocking

/** Calls each published module once. */
object KotlinConsumer {
    @JvmStatic
    fun main(args: Array<String>): Unit = runBlocking {
        val semaphore = Semaphore(permits = 2)
        check(semaphore.withPermit { semaphore.availablePermits } == 1)

        val clock = ManualClock()
        val limiter = RateLimiter.tokenBucket(1 per 1.seconds, clock = clock)
        check(limiter.tryAcquire() && !limiter.tryAcquire())
        clock.advance(1.seconds)
        check(limiter.tryAcquire())

        coroutineScope {
            val scheduler = TaskScheduler(this, maxConcurrency = 1)
            check(scheduler.run { 42 } == 42)
            scheduler.close()
        }

        val file = Files.createTempDirectory("consumer").resolve("locks")
        SharedRegion.open(file).use { region -> check(region.mutex("m").withLock { true }) }

        Cluster.open(InMemoryStore()).use { cluster -> check(cluster.mutex("m").withLock { it.isHeld }) }
        RedisStore("redis://:secret@localhost:1").use { store ->
            Cluster.open(store).use { cluster -> check("localhost:1" in "$cluster" && "secret" !in "$cluster") }
        }

        Monitor(this).use { monitor ->
            monitor.watch(semaphore, "consumer")
            BatonMetrics(monitor).bindTo(SimpleMeterRegistry())
        }
        println("Kotlin, ${Semaphore::class.java.module}: ok")
    }
}
