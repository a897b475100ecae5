package baton.sync

import kotlin.coroutines.Continuation
import kotlin.coroutines.CoroutineContext
import kotlin.coroutines.intrinsics.COROUTINE_SUSPENDED
import kotlin.coroutines.intrinsics.startCoroutineUninterceptedOrReturn
import kotlin.coroutines.resume
import kotlinx.coroutines.CancellableContinuation
import kotlinx.coroutines.CoroutineDispatcher
import kotlinx.coroutines.Job
import kotlinx.coroutines.suspendCancellableCoroutine
import org.jetbrains.lincheck.datastructures.ModelCheckingOptions
import org.jetbrains.lincheck.datastructures.StressOptions

/** How long Lincheck looks. */
internal enum class Effort(
    val scenarios: Int,
    val interleavings: Int,
    val stressScenarios: Int,
    val stressRuns: Int,
) {
    SHORT(scenarios = 8, interleavings = 100, stressScenarios = 12, stressRuns = 500),
    DEEP(scenarios = 100, interleavings = 5_000, stressScenarios = 100, stressRuns = 20_000),
    ;

    fun modelChecking(sequential: Class<*>): ModelCheckingOptions =
        ModelCheckingOptions()
            .iterations(scenarios)
            .invocationsPerIteration(interleavings)
            .threads(3).actorsBefore(2).actorsPerThread(2).actorsAfter(2)
            // Who waits for a spin lock learns nothing by trying again.
            .loopIterationsBeforeThreadSwitch(2)
            .sequentialSpecification(sequential)

    fun stress(sequential: Class<*>): StressOptions =
        StressOptions()
            .iterations(stressScenarios)
            .invocationsPerIteration(stressRuns)
            .threads(3).actorsBefore(2).actorsPerThread(3).actorsAfter(2)
            .sequentialSpecification(sequential)
}

/**
 * Runs [block] in a coroutine with a [job] and a dispatcher of its own, so that Lincheck can cancel it.
 *
 * Lincheck cancels only by means of a [CancellableContinuation], which Baton's waiters are not. So one stands in front:
 * cancelling it cancels the job; resuming it is what the dispatcher does, and what it dispatched runs when Lincheck lets
 * the operation go on. Cancelled in between (Lincheck's prompt cancellation), the job is cancelled before that runs.
 */
internal suspend fun <T> underLincheck(job: Job = Job(), block: suspend () -> T): T {
    val world = LincheckWorld<T>(job)
    val first = block.startCoroutineUninterceptedOrReturn(world)
    if (first !== COROUTINE_SUSPENDED) {
        @Suppress("UNCHECKED_CAST")
        return first as T
    }
    world.awaitDispatch()
    world.runDispatched()
    return world.outcome!!.getOrThrow()
}

private class LincheckWorld<T>(private val job: Job) :
    CoroutineDispatcher(),
    Continuation<T> {
    override val context: CoroutineContext = job + this

    @Volatile
    var outcome: Result<T>? = null
        private set

    private val lock = Any()
    private var dispatched: Runnable? = null
    private var front: CancellableContinuation<Unit>? = null

    override fun resumeWith(result: Result<T>) {
        outcome = result
    }

    override fun dispatch(context: CoroutineContext, block: Runnable) {
        val waiting =
            synchronized(lock) {
                check(dispatched == null) { "resumed twice" }
                dispatched = block
                front
            }
        waiting?.proceed()
    }

    suspend fun awaitDispatch() {
        suspendCancellableCoroutine<Unit> { front ->
            front.invokeOnCancellation {
                job.cancel()
                // The coroutine ends when whoever has granted to it meanwhile has dispatched it; not before.
                while (outcome == null) Thread.onSpinWait()
            }
            val here =
                synchronized(lock) {
                    this.front = front
                    dispatched != null
                }
            if (here) front.resume(Unit)
        }
    }

    fun runDispatched() {
        dispatched!!.run()
    }

    private fun CancellableContinuation<Unit>.proceed() {
        resume(Unit) { _, _, _ ->
            job.cancel()
            runDispatched()
        }
    }
}
