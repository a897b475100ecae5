package guide.tasks

import baton.channels.Channel
import kotlin.time.Duration.Companion.milliseconds
import kotlin.time.Duration.Companion.seconds
import kotlinx.coroutines.CoroutineScope
import kotlinx.coroutines.Job
import kotlinx.coroutines.cancelAndJoin
import kotlinx.coroutines.delay
import kotlinx.coroutines.joinAll
import kotlinx.coroutines.launch
import kotlinx.coroutines.selects.onTimeout
import kotlinx.coroutines.selects.select
import kotlinx.coroutines.test.runTest
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.api.Test

/** A producer, a bounded queue and two consumers that take up to 50 rows at once. */
class RowWritersTest {
    private val written = ArrayList<List<Int>>()

    private suspend fun write(rows: List<Int>) {
        delay(10.milliseconds)
        written += rows
    }

    private fun CoroutineScope.launchWriter(rows: Channel<Int>): Job = launch {
        do {
            val batch = rows.receiveUpTo(50)
            write(batch)
        } while (batch.isNotEmpty()) // an empty batch: the channel is closed and drained
    }

    @Test
    fun writers_endWithTheChannel_andHaveAllRows() = runTest {
        val rows = Channel<Int>(capacity = 100)
        val writers = List(2) { launchWriter(rows) }
        for (row in 1..1_000) rows.send(row)
        rows.close()
        writers.joinAll()
        assertEquals((1..1_000).toList(), written.flatten().sorted())
        assertTrue(written.all { it.size <= 50 } && written.any { it.size == 50 })
    }

    @Test
    fun writer_thatIsCancelledWhileItWaits_losesNoRow() = runTest {
        val rows = Channel<Int>(capacity = 100)
        val cancelled = launch { rows.receiveUpTo(50) }
        val other = launchWriter(rows)
        delay(10.milliseconds)
        rows.send(1) // handed to the first writer, which is cancelled before it runs
        cancelled.cancelAndJoin()
        rows.send(2)
        rows.close()
        other.join()
        assertEquals(listOf(1, 2), written.flatten().sorted())
    }

    @Test
    fun twoQueues_areAwaitedAtOnce() = runTest {
        val urgent = Channel<String>(capacity = 10)
        val ordinary = Channel<String>(capacity = 10)
        suspend fun next(): String? = select {
            urgent.onReceive { it }
            ordinary.onReceive { it }
            onTimeout(1.seconds) { null }
        }
        ordinary.send("report")
        urgent.send("alarm")
        assertEquals(listOf("alarm", "report", null), List(3) { next() })
    }
}
