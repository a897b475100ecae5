package baton.shared.region

import baton.shared.SharedRegionException
import java.io.IOException
import java.nio.file.Files
import java.nio.file.Path

/** Refuses file systems whose mappings or locks are not those of one kernel. */
internal object FileSystemCheck {
    private val REFUSED =
        setOf(
            "9p",
            "afs",
            "beegfs",
            "ceph",
            "cifs",
            "davfs",
            "drvfs",
            "glusterfs",
            "gpfs",
            "lustre",
            "ncpfs",
            "prl_fs",
            "smb2",
            "smb3",
            "smbfs",
            "vboxsf",
            "virtiofs",
            "vmhgfs",
            "webdav",
        )

    /** @return the path without symbolic links */
    fun resolve(path: Path): Path {
        try {
            val absolute = path.toAbsolutePath()
            val name = absolute.fileName ?: throw SharedRegionException("$path: is a directory")
            val parent = (absolute.parent ?: absolute).toRealPath()
            val real = parent.resolve(name)
            val file = if (Files.exists(real)) real.toRealPath() else real
            if (Files.exists(file) && !Files.isRegularFile(file))
                throw SharedRegionException("$path: is no regular file")
            val type = Files.getFileStore(file.parent).type()
            if (isRefused(type))
                throw SharedRegionException("$path: is on a file system of type $type, not local memory")
            return file
        } catch (e: IOException) {
            throw SharedRegionException("$path: the directory cannot be read: $e", e)
        }
    }

    fun isRefused(type: String): Boolean {
        val name = type.lowercase()
        return name in REFUSED || name.startsWith("nfs") || name.startsWith("fuse")
    }
}
