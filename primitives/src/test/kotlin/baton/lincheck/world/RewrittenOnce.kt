package baton.lincheck.world

import net.bytebuddy.agent.ByteBuddyAgent
import org.jetbrains.lincheck.jvm.agent.InstrumentationMode
import org.jetbrains.lincheck.jvm.agent.LincheckInstrumentation

/**
 * Has Lincheck rewrite each class once in this JVM, for model checking. By itself, it does so for each check and takes
 * it back afterwards, which takes longer than a short check. Checks with real threads need a JVM without this.
 */
internal object RewrittenOnce {
    init {
        LincheckInstrumentation.attachJavaAgentStatically(ByteBuddyAgent.install())
        LincheckInstrumentation.install(InstrumentationMode.MODEL_CHECKING)
    }

    /** Returns when it is so. */
    fun ensure() = Unit
}
