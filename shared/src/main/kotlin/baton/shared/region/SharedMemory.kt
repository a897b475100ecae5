package baton.shared.region

import baton.files.OwnedFiles
import baton.shared.SharedRegionException
import baton.waiting.threads.Timeouts
import baton.waiting.threads.Trampoline
import java.io.IOException
import java.lang.ref.WeakReference
import java.nio.ByteBuffer
import java.nio.file.Path
import java.nio.file.attribute.PosixFilePermission
import java.util.concurrent.CopyOnWriteArrayList
import java.util.concurrent.atomic.AtomicBoolean
import java.util.concurrent.locks.LockSupport

/**
 * One open region, for the primitives in it. To write a primitive `SharedX`:
 * 1. `SharedX` implements [RegionMember], and is made by [Members], one for each name, because its local queue must be
 *    one for all callers of this process.
 * 2. [named] finds or makes its [SharedObject]: 64 bytes of words, and for some kinds a table with a `Long` per slot.
 * 3. Every call begins with [check]. Every loop that waits for other processes uses a
 *    [WordPoll][baton.shared.waiting.WordPoll], which checks, too.
 * 4. A record of something held names the holder's [slot] and [generation]. Before a waiter waits longer, it asks
 *    [isAlive] of the others, at most once per [probe period][baton.shared.waiting.WordPoll.isProbeDue], and takes back
 *    what the dead held. A table's entry of an older generation of *our own* slot belongs to a dead owner as well.
 * 5. A call that changes a word for which others wait ends with [wake]. It costs nothing where this member cannot wake.
 * 6. The transitions of its words are plain functions in `baton.shared.word`, so that they can be model checked.
 *
 * Each open region has a slot of its own: two in one JVM (of two class loaders, say) are two members, as two processes
 * are. The end, a [close] or the loss of the file, is one state that every call sees.
 */
internal class SharedMemory
private constructor(
    private val file: RegionFile,
    private val live: LiveFile,
    private val slots: Slots,
    private val claim: Slots.Claim,
    val wordWait: WordWait,
) {
    private val names = NameTable(file)
    private val members = CopyOnWriteArrayList<RegionMember>()
    private val hasEnded = AtomicBoolean()
    private val isClosed = AtomicBoolean()

    /** Why calls fail; null while they do not. */
    @Volatile private var failure: String? = null

    val path: Path
        get() = file.path

    /** Slot of this region, 1..1023. */
    val slot: Int
        get() = claim.slot

    /** Generation of [slot], 1..0xFFFFF. */
    val generation: Int
        get() = claim.generation

    /** No slot above was ever claimed. */
    val highestSlot: Int
        get() = slots.highest

    val isOpen: Boolean
        get() = failure == null

    /** @throws SharedRegionException if the region is closed, or its file was removed or cut some seconds ago. */
    fun check() {
        val failure = failure
        if (failure != null) throw SharedRegionException("$path: $failure")
    }

    /** As [check], and looks at the file: before a mapping, which would extend a file that was cut. */
    fun checkFile() {
        inspectNow()
        check()
    }

    /** See [Slots.isAlive]. Our own slot is alive without a system call. */
    fun isAlive(slot: Int, generation: Int): Boolean {
        if (slot == this.slot) return generation == this.generation
        return slots.isAlive(slot, generation)
    }

    /** See [Slots.pidOf]. */
    fun pidOf(slot: Int, generation: Int): Long? = slots.pidOf(slot, generation)

    fun anyCannotWake(): Boolean = slots.anyCannotWake()

    /** Wakes up to [count] callers that wait for the int at [offset] of [words], in any process. */
    fun wake(words: Words, offset: Int, count: Int = 1) {
        wordWait.wake(words, offset, count)
    }

    /**
     * The object of [request], made if need be. [initialise] sets the words of a new one before other processes see
     * them.
     *
     * @throws SharedRegionException if the name has another kind or number, there is no room, or the region has ended.
     */
    fun named(request: NameRequest, initialise: (SharedObject) -> Unit = {}): SharedObject =
        named(request, initialise) { it }

    /**
     * As the other, with what [create] makes of the object. It runs under the init lock too, and must not take that: so
     * the entry of our slot in a table is ours until it returns, because a slot is claimed under that lock.
     */
    fun <T> named(request: NameRequest, initialise: (SharedObject) -> Unit, create: (SharedObject) -> T): T {
        check()
        return live.initLocked {
            check()
            create(names.findOrAdd(request, initialise))
        }
    }

    /** A piece of zeroed memory in native order, the same for all that ask for this name and size. */
    fun bytes(name: String, size: Int): ByteBuffer {
        require(size in 1..RegionLayout.MAX_PIECE_BYTES) {
            "size = $size of bytes '$name', must be within 1..${RegionLayout.MAX_PIECE_BYTES}"
        }
        checkFile()
        return named(NameRequest(ObjectKind.BYTES, NameRequest.PIECES, name, size)).table.bytes()
    }

    /** [member] hears of the end; at once if that has been. */
    fun register(member: RegionMember) {
        members.add(member)
        check()
    }

    /** Abandons what this process holds, fails its waiters, and gives the slot back. Only the first call does it. */
    fun close() {
        if (!isClosed.compareAndSet(false, true)) return
        // A file that was cut must not be touched again.
        if (end("the region is closed", isUsable = true)) slots.release(claim) else claim.witness.release()
    }

    private fun end(reason: String, isUsable: Boolean): Boolean {
        if (!hasEnded.compareAndSet(false, true)) return false
        failure = reason
        members.forEach { member -> Trampoline.guarded { member.regionEnded(isUsable) } }
        return true
    }

    /** Neither a look that fails nor a system without a thread for the timer ends the looks. */
    private fun inspect() {
        while (true) {
            Trampoline.guarded(::inspectNow)
            if (!isOpen) return
            try {
                return inspectLater(WeakReference(this))
            } catch (e: Throwable) {
                Trampoline.report(e)
                LockSupport.parkNanos(INSPECT_MILLIS * 1_000_000)
            }
        }
    }

    private fun inspectNow() {
        if (!isOpen) return
        val damage =
            try {
                file.damage()
            } catch (e: IOException) {
                "the file cannot be read: $e"
            }
        if (damage != null) end(damage, isUsable = false)
    }

    companion object {
        /** Less than half of the 5 s within which a lost file is an error. */
        private const val INSPECT_MILLIS = 2_000L

        /** @throws SharedRegionException if the file is refused; the message names it and the reason. */
        fun open(
            path: Path,
            wordWait: WordWait,
            permissions: Set<PosixFilePermission> = OwnedFiles.OWNER_ONLY,
        ): SharedMemory {
            val real = FileSystemCheck.resolve(path)
            val live =
                try {
                    LiveFile.of(real, permissions)
                } catch (e: IOException) {
                    throw SharedRegionException("$path: its side file cannot be opened: $e", e)
                }
            return live.initLocked {
                val file = RegionFile.openOrCreate(real, permissions)
                val slots = Slots(file.words, live, real.toString())
                val claim = slots.claim(wordWait.canWake)
                val memory = SharedMemory(file, live, slots, claim, wordWait)
                try {
                    inspectLater(WeakReference(memory))
                } catch (e: Throwable) { // no thread for the timer
                    memory.close()
                    throw e
                }
                memory
            }
        }

        /** Keeps no region alive that nothing else references. */
        private fun inspectLater(region: WeakReference<SharedMemory>) {
            Timeouts.schedule(INSPECT_MILLIS) { region.get()?.inspect() }
        }
    }
}
