package guide.context

import baton.sync.Semaphore
import baton.sync.withPermit
import kotlinx.coroutines.asContextElement
import kotlinx.coroutines.withContext

val tenant = ThreadLocal<String>()

class Orders(private val slots: Semaphore, private val store: (order: String, tenant: String?) -> Unit) {
    suspend fun save(order: String, of: String) =
        withContext(tenant.asContextElement(of)) {
            slots.withPermit { store(order, tenant.get()) } // on whichever thread it goes on after the wait
        }
}
