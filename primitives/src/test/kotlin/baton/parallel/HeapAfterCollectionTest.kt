package baton.parallel

import baton.memory.usedHeap
import baton.parallel.core.HeapAfterCollection
import com.sun.management.GarbageCollectorMXBean
import com.sun.management.GcInfo
import java.lang.management.ManagementFactory
import java.lang.management.MemoryPoolMXBean
import java.lang.management.MemoryType
import java.lang.management.MemoryUsage
import java.lang.ref.Reference
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.api.Test

/** The heap of the JVM that runs the test, with the collector that it has. */
class HeapAfterCollectionTest {
    @Test
    fun invoke_countsWhatIsKept_andNoGarbage() {
        usedHeap() // collects
        val before = HeapAfterCollection.ofThisJvm()
        val kept = data()
        usedHeap()
        val held = HeapAfterCollection.ofThisJvm() - before
        assertTrue(held in BYTES / 2..2 * BYTES) { "$held bytes more" }
        makeGarbage()
        usedHeap()
        val afterwards = HeapAfterCollection.ofThisJvm() - before
        assertTrue(afterwards <= held + BYTES / 2) { "$afterwards bytes, and $held before the garbage" }
        Reference.reachabilityFence(kept)
    }

    private val collectors = ManagementFactory.getPlatformMXBeans(GarbageCollectorMXBean::class.java)

    /** A collector of this JVM, between the counting of a collection and the publication of the usage after it. */
    private class Late(private val real: GarbageCollectorMXBean, var count: Long, var info: GcInfo?) :
        GarbageCollectorMXBean by real {
        override fun getCollectionCount() = count

        override fun getLastGcInfo() = info
    }

    /** Knows nothing of its own last collection. */
    private class Silent(private val real: MemoryPoolMXBean) : MemoryPoolMXBean by real {
        override fun getCollectionUsage(): MemoryUsage? = null
    }

    /** The usage after the last collection of the whole heap. */
    private fun collect(): GcInfo {
        usedHeap()
        return collectors.mapNotNull { it.lastGcInfo }.maxBy { it.endTime }
    }

    @Test
    fun invoke_whileACollectionIsCountedAndNotPublished_keepsNoReading() {
        val heap = ManagementFactory.getMemoryPoolMXBeans().filter { it.type == MemoryType.HEAP }.map(::Silent)
        val small = collect()
        val kept = data()
        val large = collect()
        Reference.reachabilityFence(kept)
        val collector = Late(collectors.first(), 0, null)
        val reading = HeapAfterCollection(listOf(collector), heap)
        assertEquals(0, reading())
        collector.count = small.id
        assertEquals(0, reading())
        collector.info = small
        val before = reading()
        assertTrue(before > 0)
        collector.count = large.id
        assertEquals(before, reading())
        collector.info = large
        assertTrue(reading() - before >= BYTES / 2) { "${reading()} after $before" }
    }

    /** The reading compares the two numbers to find out whether a collection is published. */
    @Test
    fun collections_ofThisJvm_areNumberedByTheirCounts() {
        usedHeap()
        for (collector in collectors) assertEquals(collector.collectionCount, collector.lastGcInfo?.id ?: 0)
    }

    /** The parts are so small that no collector gives them regions of their own. */
    private fun data() = List((BYTES / PART).toInt()) { ByteArray(PART) }

    /** Makes garbage in a frame of its own, which does not keep it reachable. */
    private fun makeGarbage() = assertEquals(BYTES, data().sumOf { it.size.toLong() })

    private companion object {
        const val BYTES = 64L shl 20
        const val PART = 16 shl 10
    }
}
