package baton.scheduler.lincheck

import baton.lincheck.world.Scenario
import baton.scheduler.PriorityPolicy
import baton.scheduler.dispatch.LimitedRunQueue
import baton.scheduler.dispatch.PriorityRunQueue
import baton.scheduler.dispatch.RunQueue
import java.util.concurrent.ConcurrentLinkedQueue
import java.util.concurrent.atomic.AtomicInteger
import java.util.concurrent.atomic.AtomicIntegerArray
import kotlin.coroutines.CoroutineContext
import kotlinx.coroutines.CoroutineDispatcher
import kotlinx.coroutines.Runnable
import org.jetbrains.lincheck.datastructures.IntGen
import org.jetbrains.lincheck.datastructures.Operation
import org.jetbrains.lincheck.datastructures.Param
import org.jetbrains.lincheck.datastructures.Validate

/**
 * Queues, mask and workers: dispatches at several levels, while workers run on several threads. No operation returns a
 * value, so Lincheck finds only the violations that [allRanOnce] reports at the end of every interleaving.
 */
@Param(name = "level", gen = IntGen::class, conf = "0:1")
abstract class RunQueueLincheckBase(parallelism: Int) : SchedulerLincheckCase {
    override val model: Class<*>
        get() = NoResults::class.java

    override val generated
        get() = 15

    /** Dispatched workers; the operation [work] runs one. */
    private val workers = ConcurrentLinkedQueue<Runnable>()

    private val underlying =
        object : CoroutineDispatcher() {
            override fun dispatch(context: CoroutineContext, block: Runnable) {
                workers.add(block)
            }
        }

    internal val core = PriorityRunQueue(underlying, parallelism, PriorityPolicy.Bounded(), quantum = 2)
    internal abstract val queue: RunQueue

    private val enqueued = AtomicInteger()
    private val ran = AtomicIntegerArray(100)
    private val running = AtomicInteger()

    @Volatile private var tooMany = false

    @Operation
    fun enqueue(@Param(name = "level") level: Int) {
        val number = enqueued.getAndIncrement()
        queue.enqueue(level) {
            if (running.incrementAndGet() > queue.parallelism) tooMany = true
            ran.incrementAndGet(number)
            running.decrementAndGet()
        }
    }

    @Operation
    fun work() {
        workers.poll()?.run()
    }

    @Validate
    fun allRanOnce() {
        val waiting = (0 until enqueued.get()).count { ran[it] == 0 }
        check(waiting == 0 || workers.isNotEmpty()) { "$waiting blocks wait, and no worker was dispatched" }
        while (true) (workers.poll() ?: break).run()
        for (number in 0 until enqueued.get()) check(ran[number] == 1) { "block $number ran ${ran[number]} times" }
        check(!tooMany) { "more than ${queue.parallelism} at a time" }
        val metrics = queue.metrics()
        check(!queue.hasWorkAbove(RunQueue.LEVELS.size) && metrics.workers == 0) { "left behind: $metrics" }
    }

    /** A thread adds a block while a worker leaves; two workers find the queues empty together. */
    override val scenarios: List<Scenario>
        get() =
            listOf(
                {
                    initial { actor(::enqueue, 0) }
                    parallel {
                        thread { actor(::work) }
                        thread { actor(::enqueue, 0) }
                    }
                },
                {
                    initial {
                        actor(::enqueue, 1)
                        actor(::enqueue, 1)
                    }
                    parallel {
                        thread { actor(::work) }
                        thread { actor(::work) }
                    }
                },
            )
}

/** The sequential specification: no operation returns a value. */
internal class NoResults {
    fun enqueue(level: Int) = Unit

    fun work() = Unit
}

class PriorityRunQueueLincheckTest : RunQueueLincheckBase(parallelism = 2) {
    override val queue: RunQueue
        get() = core
}

/** With one worker there are so few steps that every run finds the gap in which a block could be left behind. */
class OneWorkerLincheckTest : RunQueueLincheckBase(parallelism = 1) {
    override val queue: RunQueue
        get() = core

    override val factor
        get() = 15
}

class LimitedRunQueueLincheckTest : RunQueueLincheckBase(parallelism = 2) {
    override val queue: RunQueue = LimitedRunQueue(core, parallelism = 1)
}

/** Slots of a view that are queued in another view. */
class NestedRunQueueLincheckTest : RunQueueLincheckBase(parallelism = 2) {
    override val queue: RunQueue = LimitedRunQueue(LimitedRunQueue(core, parallelism = 2), parallelism = 1)
}
