package baton

import kotlinx.coroutines.Job
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Test

/** Guards the other probes: they prove nothing if they run on a version other than the requested one. */
open class VersionKotlinxProbe {
    @Test
    fun kotlinx_onTheClassPath_isTheOneAskedFor() {
        val resource = "META-INF/kotlinx_coroutines_core.version"
        val versions = Job::class.java.classLoader.getResources(resource).toList().map { it.readText().trim() }
        println("kotlinx-coroutines-core on the class path: $versions")
        assertEquals(listOf(System.getProperty("kotlinx.probe.version")), versions)
    }
}
