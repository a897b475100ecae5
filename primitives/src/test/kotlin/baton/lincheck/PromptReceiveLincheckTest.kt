package baton.lincheck

import baton.channels.Channel
import baton.lincheck.world.Effort
import baton.lincheck.world.LincheckCoroutines
import baton.lincheck.world.NoAnswers
import baton.lincheck.world.VARIANT
import java.util.concurrent.ConcurrentLinkedQueue
import java.util.concurrent.atomic.AtomicInteger
import org.jetbrains.lincheck.datastructures.DSLScenarioBuilder
import org.jetbrains.lincheck.datastructures.Operation
import org.jetbrains.lincheck.datastructures.Validate
import org.junit.jupiter.api.Tag
import org.junit.jupiter.api.Test

/**
 * Receivers are cancelled at any moment, also after they have got their element and before they run. Lincheck's own
 * prompt cancellation cannot express that an element was handed over and comes back. So every receiver is a coroutine
 * of its own here, and no operation returns anything. [everyElementIsSomewhere] checks the invariant at the end of
 * every interleaving.
 */
abstract class PromptReceiveLincheckBase(capacity: Int) {
    internal open val effort get() = Effort.BRIEF
    private val channel = Channel<Int>(capacity)

    private val receivers = LincheckCoroutines()
    private val received = ConcurrentLinkedQueue<Int>()
    private val sent = AtomicInteger()

    @Operation
    fun receive() = receivers.start({ channel.receive() }) { it.onSuccess(received::add) }

    @Operation
    fun cancel() = receivers.cancelOldest()

    @Operation
    fun trySend() {
        if (channel.trySend(SENT).isSuccess) sent.incrementAndGet()
    }

    @Operation
    fun tryReceive() {
        channel.tryReceive().getOrNull()?.let(received::add)
    }

    @Operation
    fun step() {
        receivers.step()
    }

    @Validate
    fun everyElementIsSomewhere() {
        receivers.runAll()
        val inside = channel.size
        check(received.size + inside == sent.get()) { "$sent sent, ${received.size} received: $channel" }
        check(inside == 0 || channel.waiting == 0) { "a caller waits although an element is there: $channel" }
        while (true) received.add(channel.tryReceive().getOrNull() ?: break)
        check(received.size == sent.get()) { "$sent sent, ${received.size} received in the end: $channel" }
    }

    private val scenarios: List<DSLScenarioBuilder.() -> Unit>
        get() = listOf(
            {
                initial { actor(::receive) }
                parallel {
                    thread { actor(::cancel) }
                    thread {
                        actor(::trySend)
                        actor(::tryReceive)
                    }
                }
            },
            {
                initial {
                    actor(::receive)
                    actor(::receive)
                }
                parallel {
                    thread {
                        actor(::cancel)
                        actor(::step)
                    }
                    thread {
                        actor(::trySend)
                        actor(::trySend)
                    }
                }
            },
        )

    @Test
    fun chosenInterleavings_loseNothing() =
        effort.checkInterleavings(javaClass, NoAnswers::class.java, scenarios, GENERATED)

    @Test
    fun threads_loseNothing() = effort.stress(NoAnswers::class.java, scenarios).check(javaClass)

    private companion object {
        const val SENT = 1
        const val GENERATED = 30
    }
}

@Tag(VARIANT)
open class PromptRendezvousLincheckTest : PromptReceiveLincheckBase(capacity = 0)

class PromptRendezvousLincheckDeepTest : PromptRendezvousLincheckTest() {
    override val effort get() = Effort.DEEP
}

@Tag(VARIANT)
open class PromptReceiveLincheckTest : PromptReceiveLincheckBase(capacity = 1)

class PromptReceiveLincheckDeepTest : PromptReceiveLincheckTest() {
    override val effort get() = Effort.DEEP
}
