package samples.support

import java.lang.ref.Reference
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

    private companion object {
        const val SIZE = 32 shl 20
    }
}
