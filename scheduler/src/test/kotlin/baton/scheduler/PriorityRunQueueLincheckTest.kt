package baton.scheduler

import baton.lincheck.world.Effort
import baton.lincheck.world.VARIANT
import baton.scheduler.dispatch.LimitedRunQueue
import baton.scheduler.dispatch.PriorityRunQueue
import baton.scheduler.dispatch.RunQueue
import java.util.concurrent.ConcurrentLinkedQueue
import java.util.concurrent.atomic.AtomicInteger
import java.util.concurrent.atomic.AtomicIntegerArray
import kotlin.coroutines.CoroutineContext
import kotlinx.coroutines.CoroutineDispatcher
import kotlinx.coroutines.Runnable
import org.jetbrains.lincheck.datastructures.DSLScenarioBuilder
import org.jetbrains.lincheck.datastructures.IntGen
import org.jetbrains.lincheck.datastructures.Operation
import org.jetbrains.lincheck.datastructures.Param
import org.jetbrains.lincheck.datastructures.Validate
import org.junit.jupiter.api.Tag
import org.junit.jupiter.api.Test

/**
 * Queue, mask and workers: dispatches at several levels, while workers run on several threads. Nothing that they do
 * has an answer, so what Lincheck finds is what [allRanOnce] says at the end of every interleaving.
 */
@Param(name = "level", gen = IntGen::class, conf = "0:1")
abstract class LineLincheckBase(parallelism: Int) {
    internal open val effort get() = Effort.BRIEF

    /** Of the interleavings that the effort says. */
    internal open val factor get() = 1

    /** They run when an operation says so. */
    private val workers = ConcurrentLinkedQueue<Runnable>()

    private val under = object : CoroutineDispatcher() {
        override fun dispatch(context: CoroutineContext, block: Runnable) {
            workers.add(block)
        }
    }

    internal val core = PriorityRunQueue(under, parallelism, PriorityPolicy.Bounded(), quantum = 2)
    internal abstract val line: RunQueue

    private val enqueued = AtomicInteger()
    private val ran = AtomicIntegerArray(100)
    private val running = AtomicInteger()

    @Volatile
    private var tooMany = false

    @Operation
    fun enqueue(@Param(name = "level") level: Int) {
        val number = enqueued.getAndIncrement()
        line.enqueue(level) {
            if (running.incrementAndGet() > line.parallelism) tooMany = true
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
        check(waiting == 0 || workers.isNotEmpty()) { "$waiting blocks wait, and no worker comes" }
        while (true) (workers.poll() ?: break).run()
        for (number in 0 until enqueued.get()) check(ran[number] == 1) { "block $number ran ${ran[number]} times" }
        check(!tooMany) { "more than ${line.parallelism} at a time" }
        val metrics = line.metrics()
        check(!line.hasWorkAbove(RunQueue.LEVELS.size) && metrics.workers == 0) { "left behind: $metrics" }
    }

    @Test
    fun chosenInterleavings_loseAndDoubleNothing() =
        effort.checkInterleavings(
            javaClass,
            NoAnswers::class.java,
            scenarios,
            generated = 15,
            Effort.SPINS_OVER_LEVELS,
            factor,
        )

    /** A block comes while a worker leaves, and while several of them find the queues empty. */
    private val scenarios: List<DSLScenarioBuilder.() -> Unit>
        get() = listOf(
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

    @Test
    fun threads_loseAndDoubleNothing() = effort.stress(NoAnswers::class.java, emptyList()).check(javaClass)
}

/** What the operations answer: nothing. */
internal class NoAnswers {
    fun enqueue(level: Int) = Unit

    fun work() = Unit
}

open class PriorityRunQueueLincheckTest : LineLincheckBase(parallelism = 2) {
    override val line: RunQueue get() = core
}

class PriorityRunQueueLincheckDeepTest : PriorityRunQueueLincheckTest() {
    override val effort get() = Effort.DEEP
}

/** With one worker there are so few steps that the gap in which a block could be left behind is found every time. */
@Tag(VARIANT)
open class OneWorkerLincheckTest : LineLincheckBase(parallelism = 1) {
    override val line: RunQueue get() = core
    override val factor get() = 15
}

class OneWorkerLincheckDeepTest : OneWorkerLincheckTest() {
    override val effort get() = Effort.DEEP
}

open class LimitedRunQueueLincheckTest : LineLincheckBase(parallelism = 2) {
    override val line: RunQueue = LimitedRunQueue(core, parallelism = 1)
}

class LimitedRunQueueLincheckDeepTest : LimitedRunQueueLincheckTest() {
    override val effort get() = Effort.DEEP
}

/** Slots of a view that stand in a view. */
open class NestedLineLincheckTest : LineLincheckBase(parallelism = 2) {
    override val line: RunQueue = LimitedRunQueue(LimitedRunQueue(core, parallelism = 2), parallelism = 1)
}

class NestedLineLincheckDeepTest : NestedLineLincheckTest() {
    override val effort get() = Effort.DEEP
}
