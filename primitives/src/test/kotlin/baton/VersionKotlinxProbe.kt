package baton

import kotlinx.coroutines.Job
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Test

/** Guards the other probes: they prove nothing if they run on versions other than the requested ones. */
open class VersionKotlinxProbe {
    @Test
    fun kotlinAndKotlinx_onTheClassPath_areThoseAskedFor() {
        val resource = "META-INF/kotlinx_coroutines_core.version"
        val kotlinx = Job::class.java.classLoader.getResources(resource).toList().map { it.readText().trim() }
        val kotlin = KotlinVersion.CURRENT.toString()
        println("On the class path: kotlin-stdlib $kotlin, kotlinx-coroutines-core $kotlinx")
        assertEquals(listOf(askedFor("kotlinx") ?: kotlinx.single()), kotlinx)
        assertEquals(askedFor("kotlin") ?: kotlin, kotlin)
    }

    /** Null if a framework chooses the version. */
    private fun askedFor(library: String): String? =
        checkNotNull(System.getProperty("$library.probe.version")).takeIf { it != "any" }
}
