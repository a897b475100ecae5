package baton.scheduler

import kotlinx.coroutines.CompletableJob
import kotlinx.coroutines.Job
import kotlinx.coroutines.SupervisorJob

/**
 * The parent of a scheduler's tasks, itself a child of [scope]. It is there while there are tasks: so the scope waits
 * for them, but not for an idle scheduler that nobody has closed. None of them fails it, and so none fails the scope.
 */
internal class Supervision(private val scope: Job?) {
    private val lock = Any()
    private var tasks = 0L
    private var supervisor: CompletableJob? = null

    /** Whether the scope is not being cancelled. */
    val isActive: Boolean get() = scope == null || scope.isActive

    init {
        // A child would start it, under the lock.
        scope?.start()
    }

    /** The parent for one more task; [leave] must follow. */
    fun enter(): Job =
        synchronized(lock) {
            tasks++
            supervisor ?: SupervisorJob(scope).also { supervisor = it }
        }

    /** A task has ended. */
    fun leave() {
        val last =
            synchronized(lock) {
                if (--tasks > 0) return
                supervisor.also { supervisor = null }
            }
        last?.complete()
    }
}
