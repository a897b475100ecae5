package baton.channels

import baton.sync.Effort
import baton.sync.underLincheck
import org.jetbrains.lincheck.datastructures.DSLScenarioBuilder
import org.jetbrains.lincheck.datastructures.Operation
import org.jetbrains.lincheck.datastructures.Param

/** Those who receive are cancelled as Lincheck does it: also in the moment in which they have got their element. */
abstract class PromptReceiveLincheckBase(channel: Channel<Int>, sequential: Class<*>) :
    ChannelLincheckBase(channel, sequential) {
    @Operation(cancellableOnSuspension = true, promptCancellation = true)
    suspend fun receive(@Param(name = "thread") thread: Int): Any = underLincheck { channel.receive() }

    @Operation(cancellableOnSuspension = false)
    suspend fun send(@Param(name = "thread") thread: Int, @Param(name = "element") element: Int): Any =
        underLincheck {
            channel.send(element)
            ChannelSequential.SENT
        }

    override val scenarios: List<DSLScenarioBuilder.() -> Unit>
        get() = listOf(
            {
                parallel {
                    thread { actor(::receive, 1) }
                    thread {
                        actor(::receive, 2)
                        actor(::tryReceive)
                    }
                    thread {
                        actor(::trySend, 1)
                        actor(::trySend, 2)
                    }
                }
            },
        )
}

internal class PromptRendezvousSequential : ChannelSequential(0, promptly = true)

internal class PromptOneSequential : ChannelSequential(1, promptly = true)

open class PromptRendezvousLincheckTest :
    PromptReceiveLincheckBase(Channel(), PromptRendezvousSequential::class.java)

class PromptRendezvousLincheckDeepTest : PromptRendezvousLincheckTest() {
    override val effort get() = Effort.DEEP
}

open class PromptReceiveLincheckTest : PromptReceiveLincheckBase(Channel(1), PromptOneSequential::class.java)

class PromptReceiveLincheckDeepTest : PromptReceiveLincheckTest() {
    override val effort get() = Effort.DEEP
}
