package baton.parallel.core

import com.sun.management.GarbageCollectorMXBean as DetailedCollector
import com.sun.management.GcInfo
import java.lang.management.GarbageCollectorMXBean
import java.lang.management.ManagementFactory
import java.lang.management.MemoryPoolMXBean
import java.lang.management.MemoryType

/**
 * The bytes of the heap that were in use after the last collection.
 *
 * It is the larger of two sums over the pools of the heap: the usage in the newest [GcInfo], and the usage of each pool
 * after its own last collection. The first alone misses data that ZGC keeps; the second alone misses the live data of
 * G1 on JDK 17, whose old generation is rarely collected. It is 0 before the first collection.
 *
 * A reading costs microseconds, and only a collection changes it, so it is kept until the number of collections has
 * changed. The JVM counts a collection before it publishes the usage after it: a reading in between is not kept. Two
 * threads that read at the same time compute the same.
 */
internal class HeapAfterCollection(
    private val collectors: List<GarbageCollectorMXBean>,
    private val pools: List<MemoryPoolMXBean>,
) : () -> Long {
    private class Reading(val collections: Long, val bytes: Long)

    private val detailed = collectors.filterIsInstance<DetailedCollector>()
    private val names = pools.map { it.name }.toSet()

    @Volatile private var last: Reading? = null

    override fun invoke(): Long {
        val collections = collectors.sumOf { it.collectionCount }
        val known = last
        if (known != null && known.collections == collections) return known.bytes
        // The number of collections is read first: one that ends meanwhile is seen by the next reading.
        val infos = detailed.mapNotNull { it.lastGcInfo }
        val bytes = maxOf(inNewest(infos), inPools())
        // The id of a collection is its number among those of its collector.
        if (detailed.isEmpty() || infos.sumOf { it.id } >= collections) last = Reading(collections, bytes)
        return bytes
    }

    private fun inPools(): Long = pools.sumOf { it.collectionUsage?.used ?: 0 }

    private fun inNewest(infos: List<GcInfo>): Long {
        val newest = infos.maxByOrNull(GcInfo::getEndTime) ?: return 0
        return newest.memoryUsageAfterGc.entries.sumOf { (pool, usage) -> if (pool in names) usage.used else 0 }
    }

    companion object {
        /** The heap of this JVM. */
        val ofThisJvm =
            HeapAfterCollection(
                ManagementFactory.getGarbageCollectorMXBeans(),
                ManagementFactory.getMemoryPoolMXBeans().filter { it.type == MemoryType.HEAP },
            )
    }
}
