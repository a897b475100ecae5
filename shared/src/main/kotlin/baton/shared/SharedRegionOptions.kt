package baton.shared

import baton.files.OwnedFiles
import java.nio.file.attribute.PosixFilePermission
import java.nio.file.attribute.PosixFilePermissions

/**
 * Options of [SharedRegion.open].
 *
 * A region that processes of several users of the system share:
 * ```
 * val options = SharedRegionOptions(permissions = PosixFilePermissions.fromString("rw-rw----"))
 * val region = SharedRegion.open(Path.of("/dev/shm/app"), options)
 * ```
 *
 * @property preferred how to wait, if the JVM can; [WaitMode.POLLING] forbids the futex. [SharedRegion.waiting] says
 *   which it became.
 * @param permissions see the property.
 * @throws IllegalArgumentException if [permissions] lack those of the owner to read and write.
 */
public class SharedRegionOptions
@JvmOverloads
constructor(
    public val preferred: WaitMode = WaitMode.FUTEX,
    permissions: Set<PosixFilePermission> = OwnedFiles.OWNER_ONLY,
) {
    /**
     * The permissions of the region's file and its side file if [SharedRegion.open] creates them, whatever the umask.
     * Files that exist keep theirs. Default: `rw-------`. A user with read access to the side file can block the region
     * by a lock on it. A user with write access to the region's file can end the processes that use it, by cutting the
     * file. So grant both or neither. On a file system without POSIX permissions the default is ignored, and other
     * permissions make [SharedRegion.open] throw [SharedRegionException].
     */
    public val permissions: Set<PosixFilePermission> = permissions.toSet()

    init {
        require(permissions.containsAll(OwnedFiles.OWNER_ONLY)) {
            "permissions = ${PosixFilePermissions.toString(permissions)}, must let the owner read and write"
        }
    }

    override fun toString(): String =
        "SharedRegionOptions(preferred = $preferred, permissions = ${PosixFilePermissions.toString(permissions)})"
}
