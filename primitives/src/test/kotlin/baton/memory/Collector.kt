package baton.memory

import java.lang.ref.WeakReference
import org.junit.jupiter.api.Assertions.assertEquals

// Checks that need a garbage collection. System.gc() returns when it is done. By then the references to all unreachable
// objects are cleared: there is nothing to wait for.

/** The least that several collections leave. */
internal fun usedHeap(): Long {
    val runtime = Runtime.getRuntime()
    return (1..4).minOf {
        System.gc()
        runtime.totalMemory() - runtime.freeMemory()
    }
}

/** Collects several times, because a frame that has returned may keep its references until it is overwritten. */
internal fun assertCollected(references: List<WeakReference<*>>) {
    for (attempt in 1..10) {
        System.gc()
        if (references.all { it.get() == null }) return
    }
    assertEquals(emptyList<Any?>(), references.mapNotNull { it.get() })
}
