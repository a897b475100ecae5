package guide.priorities

import baton.Priority
import baton.scheduler.prioritized
import kotlinx.coroutines.CoroutineDispatcher
import kotlinx.coroutines.coroutineScope
import kotlinx.coroutines.launch

class Feed(dispatcher: CoroutineDispatcher) { // Dispatchers.Default in an application
    private val urgency = dispatcher.prioritized(parallelism = 1, name = "feed")
    val shown = ArrayList<String>()

    suspend fun open(page: String) = coroutineScope {
        launch(urgency + Priority.LOW) { shown += "$page: what comes next" }
        launch(urgency + Priority.HIGH) { shown += "$page: the page itself" }
    }
}
