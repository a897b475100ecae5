package baton.scheduler.journal

import baton.files.OwnedFiles
import java.io.EOFException
import java.io.IOException
import java.nio.ByteBuffer
import java.nio.channels.FileChannel
import java.nio.file.Files
import java.nio.file.Path
import java.nio.file.StandardCopyOption.ATOMIC_MOVE
import java.nio.file.StandardOpenOption.READ

/** The operations of a [JournalLog] that write. All of them block. Tests replace them by ones that fail. */
internal interface JournalDisk {
    fun open(path: Path): JournalFile

    /**
     * A new, empty file, in place of one that is there, with the permissions of [like], or if that is missing for its
     * owner alone.
     */
    fun create(path: Path, like: Path): JournalFile

    /** Replaces [target] by [source] in one step, which lasts. */
    fun replace(source: Path, target: Path)
}

internal interface JournalFile : AutoCloseable {
    val size: Long

    /** Reads until [target] is full. */
    fun read(target: ByteBuffer, at: Long)

    /** Writes all that remains of [source]. If this throws, a part of it may be written. */
    fun write(source: ByteBuffer, at: Long)

    fun truncate(length: Long)

    /** Returns when the content and the length will survive a failure of the power. */
    fun force()
}

internal object FileDisk : JournalDisk {
    override fun open(path: Path): JournalFile = ChannelFile(OwnedFiles.open(path))

    override fun create(path: Path, like: Path): JournalFile {
        OwnedFiles.delete(path)
        return ChannelFile(OwnedFiles.create(path, OwnedFiles.permissionsOf(like) ?: OwnedFiles.OWNER_ONLY))
    }

    override fun replace(source: Path, target: Path) {
        Files.move(source, target, ATOMIC_MOVE)
        forceDirectory(target.toAbsolutePath().parent)
    }

    private fun forceDirectory(directory: Path) {
        try {
            FileChannel.open(directory, READ).use { it.force(true) }
        } catch (_: IOException) {
            // Windows cannot open a directory, and some file systems cannot force one: the rename is as durable as they
            // make it.
        }
    }
}

private class ChannelFile(private val channel: FileChannel) : JournalFile {
    override val size: Long
        get() = channel.size()

    override fun read(target: ByteBuffer, at: Long) {
        inPieces(target, at) { piece, position ->
            channel.read(piece, position).also { if (it < 0) throw EOFException("the file has only $size bytes") }
        }
    }

    override fun write(source: ByteBuffer, at: Long) = inPieces(source, at, channel::write)

    /** A channel copies what it moves to memory outside the heap, as much as it is given. */
    private inline fun inPieces(bytes: ByteBuffer, at: Long, move: (ByteBuffer, Long) -> Int) {
        val end = bytes.limit()
        var position = at
        while (bytes.position() < end) {
            bytes.limit(minOf(end, bytes.position() + PIECE_BYTES))
            position += move(bytes, position)
        }
    }

    override fun truncate(length: Long) {
        channel.truncate(length)
    }

    override fun force() = channel.force(true)

    override fun close() = channel.close()

    private companion object {
        const val PIECE_BYTES = 1 shl 16
    }
}
