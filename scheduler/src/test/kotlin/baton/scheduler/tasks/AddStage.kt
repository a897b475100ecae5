package baton.scheduler.tasks

import baton.Priority.NORMAL
import baton.scheduler.TaskScheduler
import baton.scheduler.bridge.StageTask
import baton.scheduler.bridge.newStageTask

/** Submits a task of the Java API, which adds the calls of the scheduler to [log]. */
internal fun TaskScheduler.addStage(
    log: MutableList<String>,
    key: Any? = null,
    onCancelled: (StageTask) -> Unit,
): StageTask {
    lateinit var task: StageTask
    val owner =
        object : StageTask.Owner {
            override fun begin() {
                log += "begun"
            }

            override fun refused(cause: Throwable) {
                log += "refused"
            }

            override fun cancelled(cause: Throwable) {
                log += "cancelled"
                onCancelled(task)
            }

            override fun isDone() = true
        }
    task = newStageTask(this, NORMAL, key, owner)
    task.submit()
    return task
}
