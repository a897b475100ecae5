package baton.lincheck.world

import net.bytebuddy.agent.ByteBuddyAgent
import org.jetbrains.lincheck.jvm.agent.InstrumentationMode
import org.jetbrains.lincheck.jvm.agent.LincheckInstrumentation

/**
 * Has Lincheck rewrite each class once in this JVM, for model checking. By itself, it does so for each check and takes
 * it back afterwards, which takes longer than a short check. All tests of the JVM run rewritten code then, so this is
 * only for one that has no others: with `-Dlincheck.once=true`.
 */
internal object RewrittenOnce {
    init {
        if (java.lang.Boolean.getBoolean("lincheck.once")) {
            LincheckInstrumentation.attachJavaAgentStatically(ByteBuddyAgent.install())
            LincheckInstrumentation.install(InstrumentationMode.MODEL_CHECKING)
        }
    }

    /** Returns when it is so. */
    fun ensure() = Unit
}
