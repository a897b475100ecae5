package guide.context

import baton.sync.Semaphore
import java.util.concurrent.CopyOnWriteArrayList
import kotlinx.coroutines.Dispatchers
import kotlinx.coroutines.launch
import kotlinx.coroutines.runBlocking
import kotlinx.coroutines.yield
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertNull
import org.junit.jupiter.api.Test

/** The Kotlin code of docs/context.md. */
class ContextPageTest {
    @Test
    fun threadLocal_afterAWait_isThatOfTheCaller() {
        val saved = CopyOnWriteArrayList<String>()
        val slots = Semaphore(1, acquired = 1)
        val orders = Orders(slots) { order, tenant -> saved += "$order of $tenant" }
        runBlocking(Dispatchers.Default) {
            launch { orders.save("tea", of = "acme") }
            launch { orders.save("ink", of = "blot") }
            while (slots.waiting < 2) yield()
            slots.release()
        }
        assertEquals(listOf("ink of blot", "tea of acme"), saved.sorted())
        assertNull(tenant.get())
    }
}
