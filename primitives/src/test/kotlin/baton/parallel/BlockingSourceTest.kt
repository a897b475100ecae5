package baton.parallel

import java.util.concurrent.CountDownLatch
import java.util.concurrent.TimeUnit
import kotlinx.coroutines.Dispatchers
import kotlinx.coroutines.cancelAndJoin
import kotlinx.coroutines.delay
import kotlinx.coroutines.launch
import kotlinx.coroutines.runBlocking
import kotlinx.coroutines.withContext
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertFalse
import org.junit.jupiter.api.Test
import org.junit.jupiter.api.Timeout

/** An iterator whose `hasNext` blocks its thread: only the pulling waits for it. */
@Timeout(300)
class BlockingSourceTest {
    private val opened = CountDownLatch(1)

    /** Blocks before element 2. */
    private val blocking = sequence {
        yieldAll(listOf(0, 1))
        check(opened.await(120, TimeUnit.SECONDS)) { "not opened" }
        yield(2)
    }

    @Test
    fun hasNext_blocks_elementsInFlightGoOn() = runBlocking {
        val mapped =
            withContext(Dispatchers.IO) {
                blocking.mapLimit(3) {
                    delay(1)
                    if (it == 1) opened.countDown()
                    it
                }
            }
        assertEquals(listOf(0, 1, 2), mapped)
    }

    @Test
    fun hasNext_blocks_resultsAreEmitted() = runBlocking {
        val chunks =
            withContext(Dispatchers.IO) {
                val flow = blocking.processInChunks(size = 1, limit = 3) { it }
                val seen = mutableListOf<Int>()
                flow.collect {
                    seen += it
                    if (it == listOf(1)) opened.countDown()
                }
                seen
            }
        assertEquals(listOf(0, 1, 2), chunks)
    }

    @Test
    fun hasNext_blocksWhileTheCallerIsCancelled_callEndsWhenItReturns() = runBlocking {
        var started = 0
        val blocks = CountDownLatch(1)
        val source = Sequence { listOf(0, 1).iterator().let { all -> BlockingAt(all, blocks, opened) } }
        val job = launch(Dispatchers.IO) { source.mapLimit(1) { started++ } }
        blocks.await()
        job.cancel()
        assertFalse(job.isCompleted)
        opened.countDown()
        job.cancelAndJoin()
        assertEquals(1, started)
    }

    private class BlockingAt(
        private val all: Iterator<Int>,
        private val blocks: CountDownLatch,
        private val opened: CountDownLatch,
    ) : Iterator<Int> {
        private var looks = 0

        override fun hasNext(): Boolean {
            if (looks++ == 1) {
                blocks.countDown()
                check(opened.await(120, TimeUnit.SECONDS)) { "not opened" }
            }
            return all.hasNext()
        }

        override fun next() = all.next()
    }
}
