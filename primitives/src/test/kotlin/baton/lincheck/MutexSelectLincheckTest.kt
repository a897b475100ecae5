package baton.lincheck

import baton.lincheck.world.LincheckCase
import baton.lincheck.world.LincheckCoroutines
import baton.lincheck.world.Scenario
import baton.lincheck.world.after
import baton.lincheck.world.threads
import baton.sync.Mutex
import baton.sync.withLock
import java.util.concurrent.atomic.AtomicInteger
import java.util.concurrent.atomic.AtomicReference
import kotlin.time.Duration.Companion.hours
import kotlinx.coroutines.CancellationException
import kotlinx.coroutines.selects.select
import org.jetbrains.lincheck.datastructures.Operation
import org.jetbrains.lincheck.datastructures.Validate

/**
 * All that a mutex can do in one scenario, `select` over two mutexes and the waits at a condition included, with
 * cancellation at any moment. See [SemaphoreSelectLincheckBase] for why no operation returns anything.
 */
class MutexSelectLincheckTest : LincheckCase {
    override val model: Class<*>
        get() = MutexNoAnswers::class.java

    override val generated
        get() = 40

    override val factor
        get() = 3

    private val mutex = HeldMutex(Mutex())
    private val other = HeldMutex(Mutex(locked = true), owner = UNOWNED)
    private val condition = mutex.mutex.newCondition()

    private val callers = LincheckCoroutines()
    private val inside = AtomicInteger()
    private val unexpected = AtomicReference<Throwable?>()

    @Operation
    fun lock() = call {
        mutex.mutex.lock()
        mutex.enter(UNOWNED)
    }

    /** Each call has an owner of its own. */
    @Operation
    fun lockBy() = call {
        val owner = Any()
        mutex.mutex.lock(owner)
        mutex.enter(owner)
    }

    @Operation fun lockTimed() = call { if (mutex.mutex.tryLock(1.hours)) mutex.enter(UNOWNED) }

    @Operation
    fun lockOneOfTwo() = call {
        val owner = Any()
        select {
            mutex.mutex.onLock(owner) { mutex.enter(owner) }
            other.mutex.onLock(null) { other.enter(UNOWNED) }
        }
    }

    @Operation
    fun tryLock() {
        if (mutex.mutex.tryLock()) mutex.enter(UNOWNED)
    }

    @Operation
    fun unlock() {
        mutex.unlock()
    }

    @Operation
    fun unlockOther() {
        other.unlock()
    }

    @Operation fun await() = callHolding { condition.await() }

    @Operation fun awaitTimed() = callHolding { condition.await(1.hours) }

    @Operation fun signal() = callHolding { condition.signal() }

    @Operation fun signalAll() = callHolding { condition.signalAll() }

    @Operation fun cancel() = callers.cancelOldest()

    @Operation fun timePasses() = callers.timePasses()

    @Operation
    fun step() {
        callers.step()
    }

    private fun call(block: suspend () -> Unit) {
        inside.incrementAndGet()
        callers.start(block) { result ->
            inside.decrementAndGet()
            val e = result.exceptionOrNull()
            if (e != null && e !is CancellationException) unexpected.set(e)
        }
    }

    /** [atCondition] returns or throws holding the mutex, as no other does. */
    private fun callHolding(atCondition: suspend () -> Unit) = call {
        val owner = Any()
        mutex.mutex.withLock(owner) {
            try {
                atCondition()
            } finally {
                check(mutex.mutex.holdsLock(owner) && !mutex.isEntered) { "not its holder: $mutex" }
            }
        }
    }

    @Validate
    fun everyCallerReturns() {
        callers.runAll()
        check(condition.waiting <= inside.get()) { "$condition" }
        // A cancelled caller at the condition needs the mutex before it returns.
        unlockAll()
        callers.checkCancelledHaveEnded()
        // All is unlocked and all are signalled: then every caller gets on.
        signalAll()
        unlockAll()
        check(inside.get() == 0 && condition.waiting == 0) { "${inside.get()} callers have not returned: $condition" }
        check(mutex.isFree && other.isFree) { "$mutex, $other" }
        unexpected.get()?.let { throw IllegalStateException("not a cancellation", it) }
    }

    private fun unlockAll() {
        do {
            callers.runAll()
        } while (mutex.unlock() or other.unlock())
    }

    override val scenarios: List<Scenario>
        get() =
            listOf(
                // Both clauses are granted, and the select is cancelled.
                threads({ actor(::unlock) }, { actor(::unlockOther) }, { actor(::cancel) }).after {
                    actor(::tryLock)
                    actor(::lockOneOfTwo)
                },
                // A caller is cancelled in the moment in which it enters the queue.
                threads({ actor(::lockBy) }, { actor(::cancel) }).after { actor(::tryLock) },
                // A clause registers while its grant comes, and a waiter stands behind it.
                threads(
                        { actor(::lockOneOfTwo) },
                        {
                            actor(::lock)
                            actor(::step)
                        },
                        { actor(::unlock) },
                    )
                    .after { actor(::tryLock) },
                // The signal, the timer and the cancellation of one wait.
                threads({ actor(::signal) }, { actor(::timePasses) }, { actor(::cancel) }).after {
                    actor(::awaitTimed)
                },
                // A signalled waiter queues for the mutex beside a timed request and a select.
                threads(
                        {
                            actor(::unlock)
                            actor(::step)
                        },
                        {
                            actor(::lockTimed)
                            actor(::timePasses)
                        },
                        { actor(::lockOneOfTwo) },
                    )
                    .after {
                        actor(::await)
                        actor(::tryLock)
                        actor(::signalAll)
                    },
            )
}

/** The owner of a lock without one. */
private val UNOWNED = Any()

/** A mutex, and the owner with which the test has locked it. */
private class HeldMutex(val mutex: Mutex, owner: Any? = null) {
    private val owner = AtomicReference(owner)

    val isFree
        get() = !mutex.isLocked && mutex.waiting == 0

    val isEntered
        get() = owner.get() != null

    fun enter(by: Any) {
        check(owner.compareAndSet(null, by)) { "two callers hold $mutex" }
    }

    /** Unlocks it, if it is held. */
    fun unlock(): Boolean {
        val held = owner.getAndSet(null) ?: return false
        mutex.unlock(held.takeIf { it !== UNOWNED })
        return true
    }

    override fun toString() = "$mutex"
}

@Suppress("unused") // Lincheck finds by name what it needs.
internal class MutexNoAnswers {
    fun lock() = Unit

    fun lockBy() = Unit

    fun lockTimed() = Unit

    fun lockOneOfTwo() = Unit

    fun tryLock() = Unit

    fun unlock() = Unit

    fun unlockOther() = Unit

    fun await() = Unit

    fun awaitTimed() = Unit

    fun signal() = Unit

    fun signalAll() = Unit

    fun cancel() = Unit

    fun timePasses() = Unit

    fun step() = Unit
}
