package baton.interop.schedule

import baton.Priority
import baton.interop.AsyncSchedule
import baton.interop.AsyncScheduleBuilder
import baton.scheduler.Due
import baton.scheduler.Misfire
import baton.scheduler.Schedule
import baton.scheduler.ScheduleConfig
import baton.scheduler.ScheduleMetrics
import baton.scheduler.ScheduleStore
import baton.scheduler.Trigger
import java.time.Instant
import java.util.concurrent.CompletionStage
import java.util.function.BiConsumer
import java.util.function.Function
import kotlin.jvm.optionals.getOrNull
import kotlin.time.toJavaDuration
import kotlinx.coroutines.CoroutineDispatcher
import kotlinx.coroutines.CoroutineScope
import kotlinx.coroutines.CoroutineStart
import kotlinx.coroutines.SupervisorJob
import kotlinx.coroutines.asExecutor
import kotlinx.coroutines.async
import kotlinx.coroutines.future.await
import kotlinx.coroutines.future.future

/** The parts of a schedule. */
internal class ScheduleSetup(
    val dispatcher: CoroutineDispatcher,
    val store: ScheduleStore<String>,
    val maxConcurrency: Int,
    val config: ScheduleConfig,
    val action: suspend (Due<String>) -> Unit,
)

/** A started schedule through one of its APIs. */
internal interface ScheduleFace {
    val schedule: Schedule<String>
    val size: Int
    val metrics: ScheduleMetrics

    fun put(key: String, trigger: Trigger, priority: Priority = Priority.NORMAL)

    fun remove(key: String): Boolean

    fun pause(key: String): Boolean

    fun resume(key: String): Boolean

    fun triggerNow(key: String): Boolean

    fun cancelRun(key: String): Int

    fun nextDue(key: String): Instant?

    suspend fun flush()

    suspend fun resync()

    suspend fun shutdown()

    /** Waits for the end. */
    suspend fun awaitEnd()
}

internal class KotlinScheduleFace(setup: ScheduleSetup) : ScheduleFace {
    override val schedule = setup.run { Schedule(store, maxConcurrency, "checks", config, action) }
    private val ended =
        CoroutineScope(SupervisorJob() + setup.dispatcher).async(start = CoroutineStart.UNDISPATCHED) { schedule.run() }

    override val size
        get() = schedule.size

    override val metrics
        get() = schedule.metrics

    override fun put(key: String, trigger: Trigger, priority: Priority) = schedule.put(key, trigger, priority)

    override fun remove(key: String) = schedule.remove(key)

    override fun pause(key: String) = schedule.pause(key)

    override fun resume(key: String) = schedule.resume(key)

    override fun triggerNow(key: String) = schedule.triggerNow(key)

    override fun cancelRun(key: String) = schedule.cancelRun(key)

    override fun nextDue(key: String) = schedule.nextDue(key)

    override suspend fun flush() = schedule.flush()

    override suspend fun resync() = schedule.resync()

    override suspend fun shutdown() = schedule.shutdown()

    override suspend fun awaitEnd() = ended.await()
}

internal class JavaScheduleFace(setup: ScheduleSetup) : ScheduleFace {
    private val actions = CoroutineScope(SupervisorJob() + setup.dispatcher)
    private val async: AsyncSchedule<String> =
        AsyncSchedule.builder<String>(
                Function<Due<String>, CompletionStage<*>> { due -> actions.future { setup.action(due) } }
            )
            .store(setup.store)
            .maxConcurrency(setup.maxConcurrency)
            .name("checks")
            .executor(setup.dispatcher.asExecutor())
            .withConfig(setup.config)
            .start()

    private fun AsyncScheduleBuilder<String>.withConfig(config: ScheduleConfig) = apply {
        when (val misfire = config.misfire) {
            Misfire.FireOnce -> {}
            Misfire.Skip -> skipMissed()
            is Misfire.CatchUp -> catchUp(misfire.max)
        }
        overlap(config.overlap)
        resolution(config.resolution.toJavaDuration())
        flushEvery(config.flushEvery.toJavaDuration())
        resyncEvery(config.resyncEvery.toJavaDuration())
        grace(config.grace.toJavaDuration())
        triggers(config.triggers)
        config.clock?.let(::clock)
        runTimeout { key -> config.runTimeout(key).takeIf { it.isFinite() }?.toJavaDuration() }
        onFailure(BiConsumer<Any, Throwable> { key, failure -> config.onFailure(key, failure) })
    }

    override val schedule: Schedule<String>
        get() = async.kotlin()

    override val size
        get() = async.size()

    override val metrics: ScheduleMetrics
        get() = async.metrics()

    override fun put(key: String, trigger: Trigger, priority: Priority) = async.put(key, trigger, priority)

    override fun remove(key: String) = async.remove(key)

    override fun pause(key: String) = async.pause(key)

    override fun resume(key: String) = async.resume(key)

    override fun triggerNow(key: String) = async.triggerNow(key)

    override fun cancelRun(key: String) = async.cancelRun(key)

    override fun nextDue(key: String): Instant? = async.nextDue(key).getOrNull()

    override suspend fun flush() {
        async.flush().await()
    }

    override suspend fun resync() {
        async.resync().await()
    }

    override suspend fun shutdown() {
        async.shutdown().await()
    }

    override suspend fun awaitEnd() {
        async.ended().await()
    }
}
