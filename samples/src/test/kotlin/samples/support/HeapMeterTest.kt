package samples.support

import java.lang.management.ManagementFactory
import java.lang.ref.Reference
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.api.Test

class HeapMeterTest {
    @Test
    fun look_countsWhatIsKeptSinceTheBeginning_peakStays() {
        val before = ByteArray(SIZE)
        HeapMeter().use { heap ->
            var kept: ByteArray? = ByteArray(SIZE)
            heap.look()
            assertTrue(heap.used() in SIZE / 2..SIZE * 3 / 2, "${heap.used()}")
            Reference.reachabilityFence(kept)
            kept = null
            heap.look()
            assertTrue(heap.used() < SIZE / 2, "${heap.used()}")
            assertTrue(heap.peak() >= SIZE / 2, "${heap.peak()}")
        }
        Reference.reachabilityFence(before)
    }

    @Test
    fun collection_isHeardAfterALook_leavesWhatIsUsedNow() {
        HeapMeter().use { heap ->
            val end = uptime()
            heap.look()
            val used = heap.used()
            heap.used(Long.MAX_VALUE / 2, end)
            assertEquals(used, heap.used())
            assertTrue(heap.peak() > Long.MAX_VALUE / 4, "${heap.peak()}")
        }
    }

    @Test
    fun collection_endedBeforeTheBeginning_countsForNothing() {
        val end = uptime() - 1
        HeapMeter().use { heap ->
            heap.used(Long.MAX_VALUE / 2, end)
            assertTrue(heap.peak() < Long.MAX_VALUE / 4, "${heap.peak()}")
        }
    }

    private fun uptime(): Long = ManagementFactory.getRuntimeMXBean().uptime

    private companion object {
        const val SIZE = 32 shl 20
    }
}
