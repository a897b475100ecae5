package guide.troubleshooting

import baton.shared.AbandonedException
import baton.shared.AbandonedLockException
import baton.shared.SharedRegion
import baton.shared.SharedRegionException
import baton.shared.withLock
import java.nio.file.Files
import java.nio.file.Path
import java.util.concurrent.TimeUnit

fun sharedMessages(folder: Path): List<Message> =
    listOf(
        message<SharedRegionException>("…: is no shared region") {
            val path = newPath(folder)
            Files.writeString(path, "the text of another program ".repeat(1_000))
            SharedRegion.open(path).close()
        },
        message<SharedRegionException>("…: no room for …") {
            SharedRegion.open(newPath(folder)).use { region -> repeat(100_000) { region.mutex("mutex $it") } }
        },
        message<AbandonedLockException>("a holder of … died in its section") {
            SharedRegion.open(leftByADeadProcess(folder)).use { it.mutex("lock").withLock { "never" } }
        },
        message<AbandonedException>("a process with work in … died before it was done") {
            SharedRegion.open(leftByADeadProcess(folder)).use { it.waitGroup("work").await() }
        },
    )

private fun newPath(folder: Path): Path = folder.resolve("region-${System.nanoTime()}")

/** A process has locked the mutex of this region and added work, and has ended without giving anything back. */
private fun leftByADeadProcess(folder: Path): Path {
    val path = newPath(folder)
    val java = Path.of(System.getProperty("java.home"), "bin", "java")
    val process =
        ProcessBuilder("$java", "-cp", System.getProperty("java.class.path"), DyingHolder::class.java.name, "$path")
            .inheritIO()
            .start()
    check(process.waitFor(1, TimeUnit.MINUTES)) { "the other process hangs" }
    return path
}

object DyingHolder {
    @JvmStatic
    fun main(args: Array<String>) {
        val region = SharedRegion.open(Path.of(args[0]))
        region.mutex("lock").lockBlocking()
        region.waitGroup("work").add()
        Runtime.getRuntime().halt(1)
    }
}
