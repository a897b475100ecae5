package baton.benchmarks

import java.util.concurrent.atomic.AtomicInteger
import java.util.concurrent.atomic.AtomicReference
import java.util.concurrent.locks.LockSupport

/**
 * The queue lock of J. Mellor-Crummey and M. Scott ("Algorithms for Scalable Synchronization on Shared-Memory
 * Multiprocessors", 1991), whose waiters park at once: no interrupts, no timeouts, no owner. A fair lock that hands
 * over by parking cannot do less, so its time is the floor of a hand-over between threads.
 */
internal class McsLock : BlockingBenchmark.Exclusion {
    private class Node {
        val thread: Thread = Thread.currentThread()

        @Volatile var next: Node? = null

        @Volatile var isGranted = false
    }

    private val tail = AtomicReference<Node?>()
    private val waiting = AtomicInteger()

    /** Written by its holder. */
    private var held: Node? = null

    /** The threads that have had to wait since the lock was last free. */
    override val queued: Int
        get() = waiting.get()

    override fun acquire() {
        val node = Node()
        val previous = tail.getAndSet(node)
        if (previous != null) {
            waiting.incrementAndGet()
            previous.next = node
            while (!node.isGranted) LockSupport.park(this)
        }
        held = node
    }

    override fun release() {
        val node = checkNotNull(held)
        if (node.next == null) {
            waiting.set(0)
            if (tail.compareAndSet(node, null)) return
        }
        while (true) {
            val next = node.next
            if (next != null) {
                next.isGranted = true
                return LockSupport.unpark(next.thread)
            }
            Thread.onSpinWait()
        }
    }
}
