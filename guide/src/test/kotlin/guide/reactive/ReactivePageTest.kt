package guide.reactive

import kotlinx.coroutines.flow.asFlow
import kotlinx.coroutines.flow.toList
import kotlinx.coroutines.test.runTest
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Test

/** The Kotlin code of docs/reactive.md. */
class ReactivePageTest {
    @Test
    fun orders_closed_haveTheirReceiptsInOrder() = runTest {
        val orders = KotlinOrders()
        orders.place((1..10).map { "order $it" }.asFlow())
        orders.close()
        assertEquals((1..10).map { "receipt of order $it" }, orders.receipts { "receipt of $it" }.toList())
    }
}
