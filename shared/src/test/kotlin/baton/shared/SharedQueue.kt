package baton.shared

/** A queue of two places in shared memory, for producers and consumers of several processes. */
internal class SharedQueue(region: SharedRegion) {
    private val mutex = region.mutex("queue")
    private val notEmpty = mutex.condition("not empty")
    private val notFull = mutex.condition("not full")
    private val bytes = region.bytes("queue", (2 + CAPACITY) * Long.SIZE_BYTES)

    suspend fun put(element: Long) =
        mutex.withLock { lock ->
            while (tail - head == CAPACITY.toLong()) notFull.await(lock)
            bytes.putLong(placeOf(tail), element)
            tail++
            notEmpty.signal()
        }

    suspend fun take(): Long =
        mutex.withLock { lock ->
            while (tail == head) notEmpty.await(lock)
            val element = bytes.getLong(placeOf(head))
            head++
            notFull.signal()
            return@withLock element
        }

    private var head: Long
        get() = bytes.getLong(0)
        set(value) {
            bytes.putLong(0, value)
        }

    private var tail: Long
        get() = bytes.getLong(Long.SIZE_BYTES)
        set(value) {
            bytes.putLong(Long.SIZE_BYTES, value)
        }

    private fun placeOf(number: Long) = (2 + (number % CAPACITY).toInt()) * Long.SIZE_BYTES

    private companion object {
        const val CAPACITY = 2
    }
}
