package baton.hostile

import java.util.concurrent.Executor
import java.util.concurrent.RejectedExecutionException
import kotlin.coroutines.CoroutineContext
import kotlin.random.Random
import kotlinx.coroutines.CoroutineDispatcher
import kotlinx.coroutines.Runnable

/**
 * A dispatcher, or an executor, with one fault. It has no thread: the test runs what it has queued, with [step] or
 * [run]. While [isHostile] is false it queues and runs in order, so that a test can bring its coroutines to where the
 * fault is to hit them.
 *
 * All members may be called from any thread.
 *
 * @param accepts how many tasks it takes before [Hostility.SHUTS_DOWN] rejects, counted while it is hostile.
 * @param seed of [Hostility.RANDOM_ORDER].
 */
class HostileDispatcher
@JvmOverloads
constructor(private val hostility: Hostility, private var accepts: Int = 2, seed: Long = 1) :
    CoroutineDispatcher(), Executor {
    private val queue = ArrayList<Runnable>()
    private val late = ArrayList<Runnable>()
    private val random = Random(seed)

    @Volatile var isHostile: Boolean = true

    /** How many tasks it has forgotten. */
    @Volatile
    var dropped: Int = 0
        private set

    override fun dispatch(context: CoroutineContext, block: Runnable) = execute(block)

    override fun execute(task: Runnable) {
        if (take(task)) task.run()
    }

    /** Returns whether the caller is to run the task. */
    @Synchronized
    private fun take(task: Runnable): Boolean {
        when (if (isHostile) hostility else null) {
            Hostility.QUEUES_AND_THROWS -> {
                queue += task
                // A ThreadPoolExecutor throws this error then.
                throw OutOfMemoryError("unable to create native thread")
            }
            Hostility.THROWS -> throw RejectedExecutionException("refused")
            Hostility.DROPS -> dropped++
            Hostility.RUNS_IN_PLACE -> return true
            Hostility.RUNS_TWICE -> {
                queue += task
                late += task
            }
            Hostility.SHUTS_DOWN -> if (accepts-- > 0) queue += task else throw RejectedExecutionException("shut down")
            Hostility.RANDOM_ORDER,
            null -> queue += task
        }
        return false
    }

    /** Runs one task; false when there is none. */
    fun step(): Boolean {
        (next() ?: return false).run()
        return true
    }

    /** Runs tasks, including tasks that these dispatch, until none is left. */
    fun run() {
        do {
            val ran = step()
        } while (ran)
    }

    @Synchronized
    private fun next(): Runnable? =
        when {
            queue.isEmpty() -> late.removeFirstOrNull()
            isHostile && hostility == Hostility.RANDOM_ORDER -> queue.removeAt(random.nextInt(queue.size))
            else -> queue.removeAt(0)
        }
}
