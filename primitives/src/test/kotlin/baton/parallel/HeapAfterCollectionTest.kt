package baton.parallel

import baton.memory.usedHeap
import java.lang.ref.Reference
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.api.Test

/** The heap of the JVM that runs the test, with the collector that it has. */
class HeapAfterCollectionTest {
    @Test
    fun invoke_countsWhatIsKept_andNoGarbage() {
        usedHeap() // collects
        val before = HeapAfterCollection()
        val kept = data()
        usedHeap()
        val held = HeapAfterCollection() - before
        assertTrue(held in BYTES / 2..2 * BYTES) { "$held bytes more" }
        makeGarbage()
        usedHeap()
        val afterwards = HeapAfterCollection() - before
        assertTrue(afterwards <= held + BYTES / 2) { "$afterwards bytes, and $held before the garbage" }
        Reference.reachabilityFence(kept)
    }

    /** Of parts so small that no collector gives them regions of their own. */
    private fun data() = List((BYTES / PART).toInt()) { ByteArray(PART) }

    /** In a frame of its own, which does not keep what it has made. */
    private fun makeGarbage() = assertEquals(BYTES, data().sumOf { it.size.toLong() })

    private companion object {
        const val BYTES = 64L shl 20
        const val PART = 16 shl 10
    }
}
