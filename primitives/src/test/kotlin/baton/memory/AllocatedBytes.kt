package baton.memory

import com.sun.management.ThreadMXBean
import java.lang.management.ManagementFactory
import org.junit.jupiter.api.Assertions.assertTrue

private const val COUNT = 10_000

private val threads = ManagementFactory.getThreadMXBean() as ThreadMXBean

/** The bytes that the calling thread allocates in [create]: its object, and all that belongs to it alone. */
fun assertAllocates(mostBytes: Long, create: () -> Any) {
    bytesOfMany(create)
    val bytes = bytesOfMany(create)
    // Objects take multiples of 8 bytes. A part of 8 is the JVM's own.
    assertTrue(bytes < (mostBytes + 8) * COUNT) { "${bytes.toDouble() / COUNT} bytes each" }
}

private fun bytesOfMany(create: () -> Any): Long {
    val all = arrayOfNulls<Any>(COUNT)
    val before = threads.currentThreadAllocatedBytes
    for (i in all.indices) all[i] = create()
    return threads.currentThreadAllocatedBytes - before
}
