package baton.lincheck.world

import net.bytebuddy.agent.ByteBuddyAgent
import org.jetbrains.lincheck.jvm.agent.InstrumentationMode
import org.jetbrains.lincheck.jvm.agent.LincheckInstrumentation

/**
 * Has Lincheck rewrite each class once in this JVM, for model checking. By itself, it does so for each check and takes
 * it back afterwards, which takes longer than a short check. All tests of the JVM run rewritten code then, so this is
 * only for a JVM that runs nothing but model checks: with `-Dlincheck.once=true`, which the profile `deep` leaves out.
 */
internal object RewrittenOnce {
    val isOn = java.lang.Boolean.getBoolean("lincheck.once")

    init {
        if (isOn) {
            LincheckInstrumentation.attachJavaAgentStatically(ByteBuddyAgent.install())
            LincheckInstrumentation.install(InstrumentationMode.MODEL_CHECKING)
        }
    }

    /** Loads this object. */
    fun ensure() = Unit
}
