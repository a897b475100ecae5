package baton.files

import baton.InternalBatonApi
import java.io.IOException
import java.nio.channels.ClosedByInterruptException
import java.nio.channels.FileChannel
import java.nio.file.FileAlreadyExistsException
import java.nio.file.FileSystemException
import java.nio.file.Files
import java.nio.file.LinkOption.NOFOLLOW_LINKS
import java.nio.file.NoSuchFileException
import java.nio.file.Path
import java.nio.file.StandardOpenOption.CREATE_NEW
import java.nio.file.StandardOpenOption.READ
import java.nio.file.StandardOpenOption.WRITE
import java.nio.file.attribute.BasicFileAttributes
import java.nio.file.attribute.PosixFileAttributeView
import java.nio.file.attribute.PosixFilePermission
import java.nio.file.attribute.PosixFilePermission.OWNER_READ
import java.nio.file.attribute.PosixFilePermission.OWNER_WRITE
import java.nio.file.attribute.PosixFilePermissions

/**
 * Opens every file that the library owns: a journal with its lock and snapshot, a region with its side file.
 *
 * Such a file is regular. A directory, device, FIFO or socket is refused before it is opened, because a FIFO may block
 * the opening, and a device may act on it. A path of the user may lead through links to a file that exists: [resolve]
 * follows them once. Nothing else follows a link, so that a link planted in the directory leads to no other file.
 *
 * A new file is created exclusively, with [OWNER_ONLY] or the permissions that the user passes, whatever the umask. A
 * file that exists keeps its own. All refusals are a [FileSystemException] that names the file and the reason.
 */
@InternalBatonApi
public object OwnedFiles {
    /** `rw-------`. Ignored on a file system without POSIX permissions. */
    public val OWNER_ONLY: Set<PosixFilePermission> = setOf(OWNER_READ, OWNER_WRITE)

    /** The path without links of the regular file at [path], or of none: then its directory must exist. */
    public fun resolve(path: Path): Path {
        val absolute = path.toAbsolutePath()
        val name = absolute.fileName ?: throw irregular(absolute)
        if (attributesOf(absolute) == null) return directoryOf(absolute).resolve(name)
        if (Files.isSymbolicLink(absolute) && !Files.exists(absolute)) {
            val target = Files.readSymbolicLink(absolute).toString()
            throw FileSystemException(absolute.toString(), target, "the target of the link is missing")
        }
        return absolute.toRealPath().also { checkRegular(it) }
    }

    private fun directoryOf(path: Path): Path =
        try {
            path.parent.toRealPath()
        } catch (_: NoSuchFileException) {
            val reason = "the directory of ${path.fileName} does not exist, create it first"
            throw NoSuchFileException("${path.parent}", null, reason)
        }

    /** Opens the file at [path] to read and write, and creates it if there is none. */
    public fun openOrCreate(path: Path, permissions: Set<PosixFilePermission> = OWNER_ONLY): FileChannel {
        if (attributesOf(path) != null) return open(path)
        return try {
            create(path, permissions)
        } catch (_: FileAlreadyExistsException) {
            open(path)
        }
    }

    /** Opens the file at [path] to read and write. */
    public fun open(path: Path): FileChannel {
        checkRegular(path)
        return FileChannel.open(path, READ, WRITE, NOFOLLOW_LINKS)
    }

    /** @throws FileAlreadyExistsException if anything is at [path], also a link to nowhere. */
    public fun create(path: Path, permissions: Set<PosixFilePermission> = OWNER_ONLY): FileChannel {
        val options = setOf(CREATE_NEW, READ, WRITE, NOFOLLOW_LINKS)
        if ("posix" !in path.fileSystem.supportedFileAttributeViews()) {
            if (permissions == OWNER_ONLY) return FileChannel.open(path, options)
            val asked = PosixFilePermissions.toString(permissions)
            throw FileSystemException("$path", null, "the file system has no permissions such as $asked")
        }
        val channel = FileChannel.open(path, options, PosixFilePermissions.asFileAttribute(permissions))
        try {
            // The umask of the process may have removed some. Those of the owner it hardly does.
            if (permissions != OWNER_ONLY) viewOf(path).setPermissions(permissions)
        } catch (e: IOException) {
            channel.use { throw e }
        }
        return channel
    }

    /** Deletes the file at [path] if there is one. */
    public fun delete(path: Path) {
        if (attributesOf(path) == null) return
        checkRegular(path)
        Files.deleteIfExists(path)
    }

    /** The permissions of the file at [path]; null if there is none, or it has none. */
    public fun permissionsOf(path: Path): Set<PosixFilePermission>? {
        val hasPermissions = "posix" in path.fileSystem.supportedFileAttributeViews()
        return if (hasPermissions && attributesOf(path) != null) viewOf(path).readAttributes().permissions() else null
    }

    /** Device and inode; [name] where the system has no such key. Null if there is no file. */
    public fun identityOf(path: Path, name: Path = path): String? =
        attributesOf(path)?.let { it.fileKey()?.toString() ?: "$name" }

    /**
     * Runs [action] although the thread is interrupted, which it stays. An interrupt closes a channel that the thread
     * reads or writes meanwhile: then [action] runs again, and must open the channel anew.
     */
    public inline fun <T> uninterrupted(action: () -> T): T {
        var interrupted = false
        try {
            while (true) {
                interrupted = Thread.interrupted() || interrupted
                try {
                    return action()
                } catch (_: ClosedByInterruptException) {
                    interrupted = true
                }
            }
        } finally {
            if (interrupted) Thread.currentThread().interrupt()
        }
    }

    private fun viewOf(path: Path) =
        Files.getFileAttributeView(path, PosixFileAttributeView::class.java, NOFOLLOW_LINKS)

    private fun attributesOf(path: Path): BasicFileAttributes? =
        try {
            Files.readAttributes(path, BasicFileAttributes::class.java, NOFOLLOW_LINKS)
        } catch (_: NoSuchFileException) {
            null
        }

    private fun checkRegular(path: Path) {
        val attributes = attributesOf(path)
        if (attributes != null && !attributes.isRegularFile) throw irregular(path)
    }

    private fun irregular(path: Path) = FileSystemException("$path", null, "is no regular file")
}
