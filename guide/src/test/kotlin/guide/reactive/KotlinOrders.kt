package guide.reactive

import baton.channels.Channel
import baton.channels.asFlow
import baton.channels.sendTo
import baton.parallel.mapLimit
import kotlinx.coroutines.flow.Flow

class KotlinOrders {
    private val orders = Channel<String>(capacity = 64)

    suspend fun place(all: Flow<String>) = all.sendTo(orders)

    fun close() {
        orders.close()
    }

    fun receipts(post: suspend (String) -> String): Flow<String> = orders.asFlow().mapLimit(5) { post(it) }
}
