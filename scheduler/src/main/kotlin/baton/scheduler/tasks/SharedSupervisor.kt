package baton.scheduler.tasks

import java.util.concurrent.atomic.AtomicInteger
import java.util.concurrent.atomic.AtomicReference
import kotlinx.coroutines.Job
import kotlinx.coroutines.SupervisorJob

/**
 * The parent of a scheduler's tasks, itself a child of [scope]. It is there while there are tasks: so the scope waits
 * for them, but not for an idle scheduler that nobody has closed. None of them fails it, and so none fails the scope.
 */
internal class SharedSupervisor(private val scope: Job?) {
    /** Of tasks that follow each other without a gap; left by the last, it is over and no task enters it again. */
    inner class Group {
        val job = SupervisorJob(scope)
        private val tasks = AtomicInteger(1)

        /** Takes in one more task, unless it is over, or its tasks were cancelled as the scope's children. */
        fun enter(): Boolean {
            while (job.isActive) {
                val now = tasks.get()
                if (now == 0) return false
                if (tasks.compareAndSet(now, now + 1)) return true
            }
            return false
        }

        /** A task has ended. */
        fun leave() {
            if (tasks.decrementAndGet() == 0) job.complete()
        }
    }

    private val group = AtomicReference<Group?>()

    /** Whether there is anybody who could cancel the tasks. */
    val hasScope: Boolean get() = scope != null

    /** Whether the scope is not being cancelled. */
    val isActive: Boolean get() = scope == null || scope.isActive

    init {
        // One that has not been started is not active either.
        scope?.start()
    }

    /** The group of one more task, of which its job is a child, and which it has to leave. */
    fun enter(): Group {
        while (true) {
            val now = group.get()
            if (now != null && now.enter()) return now
            val next = Group()
            if (group.compareAndSet(now, next)) return next
            next.leave()
        }
    }
}
