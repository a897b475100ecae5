package baton.lincheck

import baton.lincheck.world.LincheckCase
import baton.lincheck.world.LincheckCoroutines
import baton.lincheck.world.Rare
import baton.lincheck.world.Scenario
import baton.lincheck.world.after
import baton.lincheck.world.threads
import baton.sync.Semaphore
import baton.sync.SemaphoreClosedException
import baton.sync.WaitOrder
import java.util.concurrent.ConcurrentLinkedQueue
import java.util.concurrent.atomic.AtomicInteger
import kotlin.time.Duration.Companion.hours
import kotlinx.coroutines.CancellationException
import kotlinx.coroutines.selects.select
import org.jetbrains.lincheck.datastructures.IntGen
import org.jetbrains.lincheck.datastructures.Operation
import org.jetbrains.lincheck.datastructures.Param
import org.jetbrains.lincheck.datastructures.Validate

/**
 * All that a semaphore can do in one scenario, `select` over two semaphores included, with cancellation at any moment,
 * also before the caller is in the queue. A select registers its clauses one after the other, and a grant that comes
 * meanwhile goes on: other operations see the steps, and no sequence of operations explains what they return. So no
 * operation returns anything, and [everyCallerReturns] checks the invariants at the end of every interleaving.
 */
@Param(name = "n", gen = IntGen::class, conf = "1:2")
abstract class SemaphoreSelectLincheckBase(order: WaitOrder) : LincheckCase {
    override val model: Class<*>
        get() = SemaphoreNoAnswers::class.java

    override val generated
        get() = 40

    override val factor
        get() = 3

    private val some = HeldSemaphore(Semaphore(MOST, order = order))
    private val one = HeldSemaphore(Semaphore(1, acquired = 1, order = order), held = 1)
    private val both = listOf(some, one)

    private val callers = LincheckCoroutines()
    private val inside = AtomicInteger()

    /** Of those inside, how many may wait for more than one permit. */
    private val heavy = AtomicInteger()
    private val unexpected = ConcurrentLinkedQueue<Throwable>()

    @Operation
    fun acquire(@Param(name = "n") n: Int) =
        call(n) {
            some.semaphore.acquire(n)
            some.add(n)
        }

    @Operation
    fun acquireTimed(@Param(name = "n") n: Int) = call(n) { if (some.semaphore.tryAcquire(n, 1.hours)) some.add(n) }

    @Operation
    fun selectOfTwo(@Param(name = "n") n: Int) =
        call(n) {
            select {
                some.semaphore.onAcquire(n) { some.add(n) }
                one.semaphore.onAcquire(null) { one.add(1) }
            }
        }

    @Operation
    fun selectOfOne(@Param(name = "n") n: Int) = call(n) { select { some.semaphore.onAcquire(n) { some.add(n) } } }

    @Operation fun awaitIdle() = call(1) { some.semaphore.awaitIdle() }

    @Operation fun tryAcquire(@Param(name = "n") n: Int) = refusable { if (some.semaphore.tryAcquire(n)) some.add(n) }

    @Operation
    fun release() {
        some.release()
    }

    @Operation
    fun releaseOther() {
        one.release()
    }

    @Operation
    fun resize(@Param(gen = IntGen::class, conf = "0:2") permits: Int) = refusable { some.semaphore.resize(permits) }

    @Rare @Operation fun close() = some.semaphore.close()

    @Operation fun cancel() = callers.cancelOldest()

    @Operation fun timePasses() = callers.timePasses()

    @Operation
    fun step() {
        callers.step()
    }

    private fun call(n: Int, block: suspend () -> Unit) {
        inside.incrementAndGet()
        if (n > 1) heavy.incrementAndGet()
        callers.start(block) { result ->
            inside.decrementAndGet()
            if (n > 1) heavy.decrementAndGet()
            result.exceptionOrNull()?.let(::noteUnexpected)
        }
    }

    private fun noteUnexpected(e: Throwable) {
        if (e !is CancellationException && e !is IllegalArgumentException && e !is SemaphoreClosedException) {
            unexpected += e
        }
    }

    private fun refusable(action: () -> Unit) {
        try {
            action()
        } catch (e: RuntimeException) {
            noteUnexpected(e)
        }
    }

    @Validate
    fun everyCallerReturns() {
        callers.runAll()
        callers.checkCancelledHaveEnded()
        val least = if (heavy.get() > 0) MOST else 1
        both.forEach { it.checkCounts(least) }
        // All that is held comes back, and the gate opens: then every caller is served.
        refusable { some.semaphore.resize(MOST) }
        do {
            callers.runAll()
        } while (both.count { it.release() } > 0)
        both.forEach { it.checkIdle() }
        check(inside.get() == 0) { "${inside.get()} callers have not returned: $both" }
        unexpected.firstOrNull()?.let { throw IllegalStateException("not one of the exceptions of a semaphore", it) }
    }

    override val scenarios: List<Scenario>
        get() =
            listOf(
                // Both clauses are granted, and the select is cancelled.
                threads({ actor(::release) }, { actor(::releaseOther) }, { actor(::cancel) }).after {
                    actor(::tryAcquire, 2)
                    actor(::selectOfTwo, 1)
                },
                // A caller is cancelled in the moment in which it enters the queue.
                threads({ actor(::acquire, 1) }, { actor(::cancel) }).after { actor(::tryAcquire, 2) },
                // A clause registers while its grant comes, and a waiter stands behind it.
                threads(
                        { actor(::selectOfTwo, 2) },
                        {
                            actor(::acquire, 1)
                            actor(::step)
                        },
                        {
                            actor(::release)
                            actor(::resize, 1)
                        },
                    )
                    .after { actor(::tryAcquire, 2) },
                // The timer, the end and the other clause.
                threads(
                        {
                            actor(::timePasses)
                            actor(::step)
                        },
                        { actor(::close) },
                        { actor(::releaseOther) },
                    )
                    .after {
                        actor(::tryAcquire, 2)
                        actor(::acquireTimed, 1)
                        actor(::selectOfTwo, 2)
                    },
            )

    internal companion object {
        const val MOST = 2
    }
}

class SemaphoreSelectLincheckTest : SemaphoreSelectLincheckBase(WaitOrder.FIFO)

class UnfairSelectLincheckTest : SemaphoreSelectLincheckBase(WaitOrder.UNFAIR) {
    override val generated
        get() = 20
}

/** A semaphore, and how many of its permits the test holds. */
private class HeldSemaphore(val semaphore: Semaphore, held: Int = 0) {
    private val held = AtomicInteger(held)

    fun add(n: Int) {
        held.addAndGet(n)
    }

    /** Releases one, if one is held. */
    fun release(): Boolean {
        while (true) {
            val now = held.get()
            if (now == 0) return false
            if (held.compareAndSet(now, now - 1)) break
        }
        semaphore.release()
        return true
    }

    /** No caller waits for fewer than [least] permits. */
    fun checkCounts(least: Int) {
        val free = semaphore.availablePermits
        check(free == maxOf(semaphore.permits - held.get(), 0)) { "$this: wrong count" }
        check(semaphore.waiting == 0 || free < least) { "$this: a caller waits for what is free" }
    }

    fun checkIdle() {
        check(semaphore.availablePermits == semaphore.permits && semaphore.waiting == 0) { "$this: not idle" }
    }

    override fun toString() = "$held held of $semaphore"
}

@Suppress("unused") // Lincheck finds by name what it needs.
internal class SemaphoreNoAnswers {
    fun acquire(n: Int) = nothingOf(n)

    fun acquireTimed(n: Int) = nothingOf(n)

    fun selectOfTwo(n: Int) = nothingOf(n)

    fun selectOfOne(n: Int) = nothingOf(n)

    fun awaitIdle() = Unit

    fun tryAcquire(n: Int) = nothingOf(n)

    fun release() = Unit

    fun releaseOther() = Unit

    fun resize(permits: Int) = nothingOf(permits)

    fun close() = Unit

    fun cancel() = Unit

    fun timePasses() = Unit

    fun step() = Unit

    @Suppress("UNUSED_PARAMETER") private fun nothingOf(argument: Int) = Unit
}
