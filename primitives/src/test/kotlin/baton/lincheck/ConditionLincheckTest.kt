package baton.lincheck

import baton.bridge.coreOf
import baton.lincheck.world.ConditionSequential
import baton.lincheck.world.ConditionSequential.Companion.CANCELLED
import baton.lincheck.world.ConditionSequential.Companion.SIGNALLED
import baton.lincheck.world.LincheckCase
import baton.lincheck.world.Rare
import baton.lincheck.world.Scenario
import baton.lincheck.world.THREADS
import baton.lincheck.world.threads
import baton.lincheck.world.underLincheck
import baton.sync.Mutex
import baton.waiting.SignalWaiter
import baton.waiting.WaitCore
import baton.waiting.Waiter
import java.util.concurrent.atomic.AtomicReferenceArray
import kotlin.coroutines.resume
import kotlin.coroutines.resumeWithException
import kotlin.reflect.KFunction
import kotlinx.coroutines.CancellableContinuation
import kotlinx.coroutines.CancellationException
import kotlinx.coroutines.Job
import kotlinx.coroutines.suspendCancellableCoroutine
import org.jetbrains.lincheck.datastructures.IntGen
import org.jetbrains.lincheck.datastructures.Operation
import org.jetbrains.lincheck.datastructures.Param
import org.jetbrains.lincheck.datastructures.ThreadIdGen

/**
 * Misuse included: any thread unlocks and signals. Cancellation is an operation like any other, because a coroutine
 * that is cancelled may have to wait for the mutex before it throws.
 */
@Param(name = "thread", gen = ThreadIdGen::class)
@Param(name = "victim", gen = IntGen::class, conf = "1:3")
class ConditionLincheckTest : LincheckCase {
    override val model: Class<*>
        get() = ConditionSequential::class.java

    override val generated
        get() = 120

    private val mutex = Mutex(locked = true)
    private val condition = mutex.newCondition()
    private val jobs = Array(THREADS) { Job() }
    private val futures = AtomicReferenceArray<Future>(THREADS)

    @Rare @Operation fun queued() = mutex.waiting

    @Rare @Operation fun waiting() = condition.waiting

    @Operation fun tryLock() = mutex.tryLock()

    @Operation(cancellableOnSuspension = false) suspend fun lock() = underLincheck { mutex.lock() }

    @Operation fun unlock() = mutex.unlock()

    @Operation(cancellableOnSuspension = false)
    suspend fun await(@Param(name = "thread") thread: Int): String =
        underLincheck(job = jobs[thread]) {
            try {
                condition.await()
                SIGNALLED
            } catch (_: CancellationException) {
                CANCELLED
            }
        }

    @Operation(cancellableOnSuspension = false)
    suspend fun awaitAsFuture(@Param(name = "thread") thread: Int): String = suspendCancellableCoroutine { caller ->
        val future = Future(coreOf(condition), caller)
        futures.set(thread, future)
        if (!jobs[thread].isActive) future.withdraw(Waiter.CANCELLED)
        when (future.core.enqueue(future)) {
            Waiter.FAILED -> caller.resumeWithException(IllegalStateException())
            Waiter.CANCELLED -> caller.resume(CANCELLED)
        }
    }

    @Operation fun signal() = condition.signal()

    @Operation fun signalAll() = condition.signalAll()

    @Operation
    fun cancel(@Param(name = "victim") thread: Int) {
        jobs[thread].cancel()
        futures.get(thread)?.cancel()
    }

    /** Stands in for the future of the Java API. */
    private class Future(core: WaitCore, private val caller: CancellableContinuation<String>) :
        SignalWaiter(core, owner = null) {
        override fun resume(): Boolean {
            caller.resume(SIGNALLED)
            return true
        }

        override fun resumeFailed() = Unit

        fun cancel() {
            if (withdraw(CANCELLED) == WAITING) caller.resume(ConditionSequential.CANCELLED)
        }
    }

    override val scenarios: List<Scenario>
        get() {
            val waits = listOf(::await, ::awaitAsFuture)
            return waits.map(::signalMeetsCancel) + waits.flatMap { first -> waits.map { twoWait(first, it) } }
        }

    private fun signalMeetsCancel(wait: KFunction<*>): Scenario =
        threads(
            { actor(wait, 1) },
            {
                actor(::lock)
                actor(::signal)
                actor(::unlock)
            },
            { actor(::cancel, 1) },
        )

    private fun twoWait(first: KFunction<*>, second: KFunction<*>): Scenario =
        threads(
            { actor(first, 1) },
            {
                actor(::tryLock)
                actor(second, 2)
            },
            {
                actor(::tryLock)
                actor(::signal)
                actor(::cancel, 1)
                actor(::unlock)
            },
        )
}
