package baton.hostile

import java.util.stream.Stream
import org.junit.jupiter.api.extension.ExtensionContext
import org.junit.jupiter.params.provider.Arguments
import org.junit.jupiter.params.provider.ArgumentsProvider
import org.junit.jupiter.params.support.ParameterDeclarations

/** One fault in one world. */
data class HostileCase(val hostility: Hostility, val world: HostileWorld) {
    override fun toString() = "$hostility, $world"

    /** The faults after which each task has run once at most. */
    class Once : Cases(Hostility.entries - Hostility.RUNS_TWICE)

    /** For APIs whose waiters are our own: kotlinx's own continuations do not survive a second run. */
    class Twice : Cases(listOf(Hostility.RUNS_TWICE))

    class All : Cases(Hostility.entries)

    abstract class Cases(private val faults: List<Hostility>) : ArgumentsProvider {
        override fun provideArguments(
            parameters: ParameterDeclarations,
            context: ExtensionContext,
        ): Stream<out Arguments> =
            faults.flatMap { fault -> HostileWorld.entries.map { Arguments.of(HostileCase(fault, it)) } }.stream()
    }
}
