package guide.tasks

import baton.PermitTimeoutException
import baton.sync.ReadWriteLock
import baton.sync.withRead
import baton.sync.withWrite
import kotlin.time.Duration.Companion.milliseconds
import kotlin.time.Duration.Companion.seconds
import kotlinx.coroutines.delay
import kotlinx.coroutines.launch
import kotlinx.coroutines.test.currentTime
import kotlinx.coroutines.test.runCurrent
import kotlinx.coroutines.test.runTest
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertFalse
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.api.Test

/** A table in memory that many read and few change; a writer gives up after 100 ms, and logs what it waited for. */
class PriceTableTest {
    private class PriceTable(private val log: (String) -> Unit) {
        private val lock = ReadWriteLock(name = "prices")
        private val prices = HashMap<String, Int>()

        suspend fun <T> read(action: suspend (Map<String, Int>) -> T): T = lock.withRead { action(prices) }

        suspend fun change(article: String, price: Int): Boolean =
            try {
                lock.withWrite(100.milliseconds) { prices[article] = price }
                true
            } catch (e: PermitTimeoutException) {
                log("$article keeps its price: ${e.message}")
                false
            }
    }

    private val log = ArrayList<String>()
    private val table = PriceTable { log += it }

    @Test
    fun readers_readTogether() = runTest {
        assertTrue(table.change("bread", 3))
        val readers =
            List(10) { launch { table.read { prices -> assertEquals(3, prices["bread"]).also { delay(1.seconds) } } } }
        readers.forEach { it.join() }
        assertEquals(1_000, currentTime)
    }

    @Test
    fun writer_whileAReaderReads_givesUpAndLogsTheLock() = runTest {
        val reader = launch { table.read { delay(1.seconds) } }
        runCurrent()
        assertFalse(table.change("bread", 4))
        assertEquals(100, currentTime)
        assertTrue("ReadWriteLock 'prices'" in log.single(), log.single())
        reader.join()
        assertTrue(table.change("bread", 4))
        assertEquals(4, table.read { it["bread"] })
    }
}
