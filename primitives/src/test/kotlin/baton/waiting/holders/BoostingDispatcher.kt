package baton.waiting.holders

import baton.Boosting
import baton.Priority
import baton.priority
import java.util.concurrent.ConcurrentHashMap
import java.util.concurrent.Semaphore
import kotlin.coroutines.CoroutineContext
import kotlinx.coroutines.CoroutineDispatcher

/** Runs everything at once, and records the boosted contexts. */
internal class BoostingDispatcher : CoroutineDispatcher(), Boosting {
    val lifted: MutableSet<Pair<Priority, Any>> = ConcurrentHashMap.newKeySet()

    /** One for each boost. */
    val boosts = Semaphore(0)

    /** Runs once, during the next boost. */
    var meanwhile = {}

    override fun isDispatchNeeded(context: CoroutineContext) = false

    override fun dispatch(context: CoroutineContext, block: Runnable) = block.run()

    override fun levelOf(context: CoroutineContext) = context.priority ?: Priority.NORMAL

    override fun boost(context: CoroutineContext, level: Priority): Boosting.Boost {
        val lift = level to Any()
        meanwhile.also { meanwhile = {} }()
        lifted += lift
        boosts.release()
        return Boosting.Boost { lifted -= lift }
    }
}
