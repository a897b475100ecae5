package guide.tasks

import baton.resilience.Hedge
import baton.resilience.ResiliencePipeline
import baton.sync.Semaphore
import java.io.IOException
import kotlin.time.Duration.Companion.milliseconds
import kotlin.time.Duration.Companion.seconds
import kotlinx.coroutines.async
import kotlinx.coroutines.awaitAll
import kotlinx.coroutines.delay
import kotlinx.coroutines.test.currentTime
import kotlinx.coroutines.test.runTest
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Test

/** A slow replica is asked again after 50 ms, a cached value helps if both fail, and 20 asks run at a time over all. */
class HedgedReadTest {
    private class Replicas(private val ask: suspend () -> String) {
        private val pipeline =
            ResiliencePipeline("replicas", semaphore = Semaphore(permits = 20), hedge = Hedge(after = 50.milliseconds))

        suspend fun read(cached: String): String = pipeline.call(fallback = { cached }) { ask() }
    }

    @Test
    fun slowReplica_isAskedAgain_andTheFirstAnswerWins() = runTest {
        var asks = 0
        val replicas = Replicas {
            if (++asks == 1) "slow".also { delay(10.seconds) } else "fast".also { delay(10.milliseconds) }
        }
        assertEquals("fast", replicas.read("cached"))
        assertEquals(60, currentTime)
        assertEquals(2, asks)
    }

    @Test
    fun replicas_thatBothFail_leaveTheCachedValue() = runTest {
        val replicas = Replicas {
            delay(100.milliseconds)
            throw IOException("down")
        }
        assertEquals("cached", replicas.read("cached"))
        assertEquals(150, currentTime)
    }

    @Test
    fun asks_overAll_areTwentyAtATime() = runTest {
        var running = 0
        var most = 0
        val replicas = Replicas {
            most = maxOf(most, ++running)
            try {
                "row".also { delay(1.seconds) }
            } finally {
                running--
            }
        }
        List(50) { async { replicas.read("cached") } }.awaitAll()
        assertEquals(20, most)
    }
}
