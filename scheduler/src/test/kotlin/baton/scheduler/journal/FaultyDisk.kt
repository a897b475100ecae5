package baton.scheduler.journal

import java.io.IOException
import java.nio.ByteBuffer
import java.nio.file.Path

/** A disk with [space] left, on which any operation may fail. */
internal class FaultyDisk : JournalDisk {
    enum class Operation {
        OPEN,
        CREATE,
        READ,
        FORCE,
        TRUNCATE,
        REPLACE,
    }

    var space = Long.MAX_VALUE
    val failing = mutableSetOf<Operation>()
    var failure: (message: String) -> Throwable = ::IOException
    var forces = 0
        private set

    /** Runs before each write. */
    var beforeWrite: () -> Unit = {}

    /** Runs when a snapshot is complete. */
    var beforeReplace: () -> Unit = {}

    /** Runs when a snapshot has replaced the journal. */
    var afterReplace: () -> Unit = {}

    override fun open(path: Path): JournalFile {
        begin(Operation.OPEN)
        return FaultyFile(FileDisk.open(path)) {}
    }

    override fun create(path: Path, like: Path): JournalFile {
        begin(Operation.CREATE)
        return FaultyFile(FileDisk.create(path, like), beforeReplace)
    }

    override fun replace(source: Path, target: Path) {
        begin(Operation.REPLACE)
        FileDisk.replace(source, target)
        afterReplace()
    }

    private fun begin(operation: Operation) {
        if (operation in failing) throw failure("$operation failed")
    }

    private inner class FaultyFile(private val file: JournalFile, private val afterFirstForce: () -> Unit) :
        JournalFile by file {
        private var isForced = false

        override fun read(target: ByteBuffer, at: Long) {
            begin(Operation.READ)
            file.read(target, at)
        }

        override fun write(source: ByteBuffer, at: Long) {
            beforeWrite()
            val fits = minOf(space, source.remaining().toLong()).toInt()
            val rest = source.remaining() - fits
            source.limit(source.position() + fits)
            file.write(source, at)
            space -= fits
            if (rest > 0) throw IOException("No space left on device")
        }

        override fun truncate(length: Long) {
            begin(Operation.TRUNCATE)
            file.truncate(length)
        }

        override fun force() {
            begin(Operation.FORCE)
            forces++
            file.force()
            if (!isForced) afterFirstForce()
            isForced = true
        }
    }
}
