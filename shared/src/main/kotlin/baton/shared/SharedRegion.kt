package baton.shared

import baton.shared.core.SharedBarrierCore
import baton.shared.core.SharedMutexCore
import baton.shared.core.SharedSemaphoreCore
import baton.shared.core.SharedWaitGroupCore
import baton.shared.region.Members
import baton.shared.region.NameRequest
import baton.shared.region.ObjectKind
import baton.shared.region.SharedMemory
import baton.shared.region.WordWait
import baton.shared.waiting.Futex
import baton.shared.waiting.Polling
import baton.shared.word.BarrierWord
import baton.shared.word.CountsWord
import java.nio.ByteBuffer
import java.nio.file.Path

/**
 * A file in memory that several processes share, with locks and data in it by name.
 *
 * ```
 * SharedRegion.open(Path.of("/dev/shm/app")).use { region ->
 *     val mutex = region.mutex("counter")
 *     val bytes = region.bytes("counter", size = 8)
 *     mutex.withLock { bytes.putLong(0, bytes.getLong(0) + 1) }
 * }
 * ```
 *
 * The region is one file and a side file `.<name>.live` beside it, whose locks show which processes live. Put them on a
 * file system of memory, such as `/dev/shm` of Linux. Leave both files alone while the region is in use: no other
 * program may open the side file, and no program may cut the region file. Access to memory that was cut ends with an
 * `InternalError` or the signal SIGBUS, which ends the JVM. All processes run on one kernel, and use the same version
 * of the layout.
 *
 * *Names.* 1 to 64 bytes of UTF-8. Locks and their kin share one space of names, pieces of [bytes] have another. A name
 * means the same in all processes: the first one to use it makes the object, the others find it. A region has room for
 * 1024 names, 1023 open regions and 64 MiB. Nothing is ever removed from it; to begin again, remove both files while no
 * process has the region open.
 *
 * *Waiting.* See [waiting]. Opening and the first use of a name wait for other processes that do the same, and block
 * for that short time.
 *
 * *Permissions.* Both files are regular, and are made for their owner alone, `rw-------`. For processes of several
 * users of the system, pass [SharedRegionOptions.permissions] in each of them. A link at the name of the side file is
 * refused; [open] follows links in its path to a file that exists.
 *
 * *Processes.* Each open region is a member of its own, also when one process opens the file twice. A member that ends,
 * by [close], a normal exit or a crash, loses its locks: the next holder is told that they were abandoned.
 *
 * *Misuse.* [open] throws [SharedRegionException] for a directory, device, FIFO, socket, link whose target is missing,
 * and for a file that is no region, was made by another version, byte order or boot, was cut, or is on a network or
 * FUSE file system. Every call throws it after [close], and at the latest 5 s after the file was removed or cut. A name
 * that exists as another kind, or with another size or number, throws it, too.
 *
 * All members may be called from any thread.
 */
public class SharedRegion private constructor(private val memory: SharedMemory) : AutoCloseable {
    private val mutexes = Members<SharedMutexCore>(memory)
    private val semaphores = Members<SharedSemaphoreCore>(memory)
    private val barriers = Members<SharedBarrierCore>(memory)
    private val waitGroups = Members<SharedWaitGroupCore>(memory)

    /** How this member waits. */
    public val waiting: WaitMode
        get() = if (memory.wordWait.canWake) WaitMode.FUTEX else WaitMode.POLLING

    /**
     * The mutex [name]. Each call returns the same mutex.
     *
     * @throws IllegalArgumentException if [name] is out of range.
     * @throws SharedRegionException if [name] is of another kind, there is no room, or the region has ended.
     */
    public fun mutex(name: String): SharedMutex {
        val request = NameRequest(ObjectKind.MUTEX, NameRequest.LOCKS, name)
        return SharedMutex(mutexes.open(request) { SharedMutexCore(memory, it, name) })
    }

    /**
     * The semaphore [name] with [permits] permits. Each call returns the same semaphore.
     *
     * @param permits 1 to 1,048,575, the same in every call and process. There is no resize, so 0 would grant nothing
     *   for ever.
     * @throws IllegalArgumentException if [name] or [permits] is out of range.
     * @throws SharedRegionException if [name] is of another kind or has another number of permits, there is no room, or
     *   the region has ended.
     */
    public fun semaphore(name: String, permits: Int): SharedSemaphore {
        require(permits in 1..CountsWord.MAX_COUNT) {
            "permits = $permits of semaphore '$name', must be within 1..${CountsWord.MAX_COUNT}"
        }
        val request = NameRequest(ObjectKind.SEMAPHORE, NameRequest.LOCKS, name, permits)
        return SharedSemaphore(semaphores.open(request) { SharedSemaphoreCore(memory, it, name, permits) })
    }

    /**
     * The barrier [name] for [parties] parties. Each call returns the same barrier.
     *
     * @param parties 1 to 1,048,575, the same in every call and process.
     * @throws IllegalArgumentException if [name] or [parties] is out of range.
     * @throws SharedRegionException if [name] is of another kind or has another number of parties, there is no room, or
     *   the region has ended.
     */
    public fun barrier(name: String, parties: Int): SharedBarrier {
        require(parties in 1..BarrierWord.MAX_PARTIES) {
            "parties = $parties of barrier '$name', must be within 1..${BarrierWord.MAX_PARTIES}"
        }
        val request = NameRequest(ObjectKind.BARRIER, NameRequest.LOCKS, name, parties)
        return SharedBarrier(barriers.open(request) { SharedBarrierCore(memory, it, name, parties) })
    }

    /**
     * The wait group [name]. Each call returns the same wait group.
     *
     * @throws IllegalArgumentException if [name] is out of range.
     * @throws SharedRegionException if [name] is of another kind, there is no room, or the region has ended.
     */
    public fun waitGroup(name: String): SharedWaitGroup {
        val request = NameRequest(ObjectKind.WAIT_GROUP, NameRequest.LOCKS, name)
        return SharedWaitGroup(waitGroups.open(request) { SharedWaitGroupCore(memory, it, name) })
    }

    /**
     * The piece of memory [name], zeroed when it is new, in native byte order, at an address divisible by 64. Each call
     * returns a buffer with a position and limit of its own. The memory has no lock: guard it by a mutex, whose lock
     * publishes what earlier holders wrote.
     *
     * @param size 1 to 1,048,576 bytes, the same in every call and process.
     * @throws IllegalArgumentException if [name] or [size] is out of range.
     * @throws SharedRegionException if [name] has another size, there is no room, or the region has ended.
     */
    public fun bytes(name: String, size: Int): ByteBuffer = memory.bytes(name, size)

    /**
     * Ends this member: callers of this process that wait throw [SharedRegionException]. The locks that it holds become
     * abandoned, its permits return, its work is taken off wait groups, and barriers at which it has arrived break. A
     * second close does nothing. Buffers of [bytes] stay readable, without any protection.
     */
    override fun close() {
        memory.close()
    }

    override fun toString(): String {
        val state = if (memory.isOpen) "slot ${memory.slot}, waiting = $waiting" else "ended"
        return "SharedRegion '${memory.path}' ($state)"
    }

    public companion object {
        /**
         * Opens the region in the file [path], and makes the file if it is missing or empty.
         *
         * @throws SharedRegionException if the file is refused; the message names it and the reason.
         */
        @JvmStatic
        public fun open(path: Path, options: SharedRegionOptions = SharedRegionOptions()): SharedRegion =
            SharedRegion(SharedMemory.open(path, wordWaitOf(options), options.permissions))

        private fun wordWaitOf(options: SharedRegionOptions): WordWait {
            val futex = if (options.preferred == WaitMode.FUTEX) Futex.ifAvailable else null
            return futex ?: Polling
        }
    }
}
