package baton.test.interleaving

import java.util.concurrent.locks.LockSupport
import kotlin.coroutines.cancellation.CancellationException
import kotlinx.coroutines.CoroutineExceptionHandler
import kotlinx.coroutines.CoroutineScope
import kotlinx.coroutines.Deferred
import kotlinx.coroutines.ExperimentalCoroutinesApi
import kotlinx.coroutines.Job
import kotlinx.coroutines.TimeoutCancellationException
import kotlinx.coroutines.async

/** One run of [body]. */
@OptIn(ExperimentalCoroutinesApi::class)
internal class Run(private val body: Body, order: Order, cancels: Boolean, private val story: Story? = null) {
    val explorer: Explorer = Explorer(order, cancels, story)
    private val checks = ArrayList<() -> Unit>()
    private var uncaught: Throwable? = null
    private var bodyHasReturned = false

    private val whenUncaught = CoroutineExceptionHandler { _, e -> if (uncaught == null) uncaught = e }

    /**
     * Runs to the end.
     *
     * @param isPatient whether to wait a moment, where nothing can go on, for another thread.
     */
    fun run(isPatient: Boolean): Failure? {
        val job = Job() // Objects stay bound to the time of the run until the checks have ended.
        val context = job + explorer + ThreadCheck(explorer) + whenUncaught
        val failure =
            explorer.whileExploring {
                val root =
                    CoroutineScope(context).async {
                        with(body) { run(checks) }
                        bodyHasReturned = true
                    }
                loop(root, isPatient)?.also { abandon(root) }
            }
        return (failure ?: checked()).also { job.complete() }
    }

    private fun loop(root: Deferred<Unit>, isPatient: Boolean): Failure? {
        while (true) {
            if (!root.isCompleted && !explorer.isReady() && isPatient) waitForOutside()
            explorer.outside?.let {
                return Failure(Failure.Kind.OUTSIDE, "", it.failure())
            }
            uncaught?.let {
                return thrown(it)
            }
            if (root.isCompleted) return root.getCompletionExceptionOrNull()?.let(::failureOf)
            if (!explorer.isReady()) return stuck()
            if (explorer.steps == Explorer.MAX_STEPS) return Failure(Failure.Kind.LIVELOCK, LIVELOCK)
            if (root.isCancelled) story?.end()
            try {
                explorer.step()
            } catch (e: Throwable) {
                return thrown(e)
            }
        }
    }

    private fun stuck(): Failure {
        val stuck = StuckRun(explorer, bodyHasReturned)
        return Failure(Failure.Kind.DEADLOCK, STUCK, details = if (story == null) "" else stuck.details())
    }

    private fun failureOf(e: Throwable): Failure? {
        val followsCancel = e is CancellationException && e !is TimeoutCancellationException
        return if (followsCancel && explorer.hasCancelled) null else thrown(e)
    }

    private fun thrown(e: Throwable) = Failure(Failure.Kind.THROWN, e.toString(), e)

    private fun checked(): Failure? {
        for (check in checks) {
            try {
                check()
            } catch (e: Throwable) {
                return Failure(Failure.Kind.CHECK, "afterwards: $e", e)
            }
        }
        return null
    }

    private fun waitForOutside() {
        val end = System.nanoTime() + PATIENCE
        while (explorer.outside == null && System.nanoTime() - end < 0) LockSupport.parkNanos(PARK)
    }

    /** Gives the coroutines that are left an end, within limits, so that they release what they hold. */
    private fun abandon(root: Deferred<Unit>) {
        root.cancel(CancelledByExplore())
        var left = LAST_STEPS
        while (left-- > 0 && explorer.outside == null && explorer.isReady()) {
            try {
                explorer.stepAfterEnd()
            } catch (_: Throwable) {
                return
            }
        }
    }

    private companion object {
        const val STUCK = "nothing can go on, and the body has not ended"
        const val PATIENCE = 200_000_000L
        const val PARK = 1_000_000L
        const val LAST_STEPS = 1_000
        val LIVELOCK =
            "more than ${Explorer.MAX_STEPS} steps: a loop that does not end, or coroutines that keep each other busy"
    }
}
