package guide.sharedmemory

import baton.shared.SharedRegion
import baton.shared.withLock
import java.nio.ByteBuffer
import java.nio.file.Path

class Counter(file: Path) : AutoCloseable { // such as /dev/shm/app, the same in all processes
    private val region = SharedRegion.open(file)
    private val mutex = region.mutex("counter")
    private val bytes: ByteBuffer = region.bytes("counter", size = 16) // the number, and a copy

    suspend fun increment(): Long =
        mutex.withLock(repair = { bytes.putLong(0, bytes.getLong(8)) }) { // if a holder has died in between
            val next = bytes.getLong(0) + 1
            bytes.putLong(0, next)
            bytes.putLong(8, next)
            next
        }

    override fun close() = region.close()
}
