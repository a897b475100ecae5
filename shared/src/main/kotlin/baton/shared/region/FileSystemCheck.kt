package baton.shared.region

import baton.files.OwnedFiles
import baton.shared.SharedRegionException
import java.io.IOException
import java.nio.file.FileSystemException
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
            val file = OwnedFiles.resolve(path)
            val type = Files.getFileStore(file.parent).type()
            if (isRefused(type))
                throw SharedRegionException("$path: is on a file system of type $type, not local memory")
            return file
        } catch (e: FileSystemException) {
            // Its message names the file; without a reason it is nothing else.
            throw SharedRegionException(if (e.reason == null) "$path: cannot be opened: $e" else "${e.message}", e)
        } catch (e: IOException) {
            throw SharedRegionException("$path: the directory cannot be read: $e", e)
        }
    }

    fun isRefused(type: String): Boolean {
        val name = type.lowercase()
        return name in REFUSED || name.startsWith("nfs") || name.startsWith("fuse")
    }
}
