package baton.waiting.holders

import kotlin.coroutines.CoroutineContext
import kotlin.coroutines.EmptyCoroutineContext
import kotlinx.coroutines.CoroutineScope
import kotlinx.coroutines.Job
import kotlinx.coroutines.SupervisorJob
import kotlinx.coroutines.cancel
import kotlinx.coroutines.launch

/** Coroutines of a dispatcher that boosts holders. */
internal class Boosted : AutoCloseable {
    val dispatcher = BoostingDispatcher()
    private val scope = CoroutineScope(dispatcher + SupervisorJob())

    init {
        Boosts.begin()
    }

    fun launch(context: CoroutineContext = EmptyCoroutineContext, block: suspend CoroutineScope.() -> Unit): Job =
        scope.launch(context, block = block)

    override fun close() {
        scope.cancel()
        Boosts.inUse = false
    }
}
