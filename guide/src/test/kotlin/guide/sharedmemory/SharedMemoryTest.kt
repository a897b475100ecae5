package guide.sharedmemory

import baton.PermitTimeoutException
import baton.shared.AbandonedLockException
import baton.shared.SharedRegion
import baton.shared.SharedRegionException
import baton.shared.SharedRegionOptions
import baton.shared.WaitMode
import baton.shared.withLock
import baton.shared.withPermit
import java.nio.ByteBuffer
import java.nio.file.Path
import java.nio.file.attribute.PosixFilePermissions
import kotlin.time.Duration.Companion.milliseconds
import kotlin.time.Duration.Companion.seconds
import kotlinx.coroutines.Dispatchers
import kotlinx.coroutines.async
import kotlinx.coroutines.coroutineScope
import kotlinx.coroutines.runBlocking
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertNotNull
import org.junit.jupiter.api.Assertions.assertNull
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.api.Test
import org.junit.jupiter.api.assertThrows
import org.junit.jupiter.api.io.TempDir

/** The Kotlin of docs/shared-memory.md. Two regions of one file are two members, as those of two processes are. */
class SharedMemoryTest {
    @TempDir lateinit var folder: Path

    private val file: Path
        get() = folder.resolve("app")

    @Test
    fun counters_ofTwoMembers_countTogether() = runBlocking {
        Counter(file).use { one ->
            Counter(file).use { other ->
                assertEquals(1, one.increment())
                assertEquals(2, other.increment())
                assertEquals(3, one.increment())
            }
        }
    }

    @Test
    fun lock_whoseHolderHasGone_tellsTheNextHolder() = runBlocking {
        val dying = SharedRegion.open(file)
        dying.mutex("data").lock()
        dying.close() // as the death of a process in its section: the lock is not freed
        SharedRegion.open(file).use { region ->
            val mutex = region.mutex("data")
            assertThrows<AbandonedLockException> { mutex.withLock { change() } }
            mutex.lock().use { lock ->
                assertTrue(lock.abandoned)
                lock.markConsistent() // once the data are right again
                assertTrue(lock.fencingToken > 0)
            }
            assertEquals("runs", mutex.withLock { "runs" })
        }
    }

    @Test
    fun lock_thatIsNotFreeInTime_isARefusal() = runBlocking {
        SharedRegion.open(file).use { region ->
            val mutex = region.mutex("data")
            val held = mutex.lock()
            assertNull(mutex.tryLock())
            assertNull(mutex.tryLock(20.milliseconds))
            assertThrows<PermitTimeoutException> { mutex.withLock(20.milliseconds) { change() } }
            held.close()
            assertNotNull(mutex.tryLock(1.seconds))
        }
    }

    @Test
    fun condition_isSignalledByAnotherMember() = runBlocking {
        SharedRegion.open(file).use { region ->
            SharedRegion.open(file).use { other ->
                val size = region.bytes("size", 8)
                val mutex = region.mutex("queue")
                val notEmpty = mutex.condition("not empty")
                val taker =
                    async(Dispatchers.Default) {
                        mutex.withLock { lock ->
                            while (size.getLong(0) == 0L) notEmpty.await(lock) // in a loop: it may wake up for nothing
                            size.getLong(0)
                        }
                    }
                put(other, 7)
                assertEquals(7, taker.await())
            }
        }
    }

    private fun change() {
        throw AssertionError("never called")
    }

    private suspend fun put(region: SharedRegion, value: Long) {
        val mutex = region.mutex("queue")
        mutex.withLock {
            region.bytes("size", 8).putLong(0, value)
            mutex.condition("not empty").signal()
        }
    }

    @Test
    fun semaphoreBarrierAndWaitGroup_areMadeByName() = runBlocking {
        SharedRegion.open(file).use { region ->
            val uplink = region.semaphore("uplink", permits = 10)
            assertEquals("sent", uplink.withPermit { "sent" })

            val start = region.barrier("start", parties = 2)
            coroutineScope { repeat(2) { async(Dispatchers.Default) { start.arrive(5.seconds) } } }

            val jobs = region.waitGroup("jobs")
            jobs.add(2)
            coroutineScope { repeat(2) { async(Dispatchers.Default) { jobs.done() } } }
            jobs.await()
            assertEquals(0, jobs.count)
        }
    }

    private val log = ArrayList<String>()

    private fun log(line: String) {
        log += line
    }

    @Test
    fun holders_areTheProcessesWithTheirPermits() = runBlocking {
        SharedRegion.open(file).use { region ->
            val mutex = region.mutex("data")
            val licences = region.semaphore("licences", permits = 3)
            licences.withPermit { log("${licences.holders()}") } // {4711=1}
            mutex.withLock { log("${mutex.holder}") } // 4711
            val me = ProcessHandle.current().pid()
            assertEquals(listOf("{$me=1}", "$me"), log)
        }
    }

    @Test
    fun region_forSeveralUsers_hasTheirPermissions() {
        val options = SharedRegionOptions(permissions = PosixFilePermissions.fromString("rw-rw----"))
        val region = SharedRegion.open(file, options)
        val isPolling = region.waiting == WaitMode.POLLING // without native access
        assertTrue(isPolling || region.waiting == WaitMode.FUTEX)
        region.close()
        assertThrows<SharedRegionException> { region.mutex("late") }
    }

    @Test
    fun name_ofAnotherKind_isRefused() {
        SharedRegion.open(file).use { region ->
            region.mutex("data")
            val e = assertThrows<SharedRegionException> { region.semaphore("data", permits = 2) }
            assertTrue("data" in e.message.orEmpty())
            val bytes: ByteBuffer = region.bytes("data", 8) // has names of its own
            assertEquals(0, bytes.getLong(0))
        }
    }
}
