package baton.scheduler.jdbc.crash

import java.io.File

/** A JVM with the class path of this one. Its errors are in its output. */
object ChildJvm {
    /** Starts that main class. */
    fun start(main: String, vararg args: String): Process {
        val java = File(System.getProperty("java.home"), "bin/java").path
        val flags =
            listOf(
                "-XX:TieredStopAtLevel=1",
                "-XX:+UseSerialGC",
                "-XX:-UsePerfData",
                "-Xshare:auto",
                "-Xmx128m",
                "-Dslf4j.internal.verbosity=ERROR",
            )
        val native = if (Runtime.version().feature() < 22) emptyList() else listOf("--enable-native-access=ALL-UNNAMED")
        val call = listOf("-cp", System.getProperty("java.class.path"), main) + args
        return ProcessBuilder(listOf(java) + flags + native + call).redirectErrorStream(true).start()
    }
}
