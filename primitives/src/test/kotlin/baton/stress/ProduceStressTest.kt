package baton.stress

import baton.channels.ReceiveChannel
import baton.channels.produce
import java.util.concurrent.atomic.AtomicInteger
import kotlinx.coroutines.CoroutineScope
import kotlinx.coroutines.Job
import kotlinx.coroutines.cancel
import kotlinx.coroutines.coroutineScope
import kotlinx.coroutines.job
import kotlinx.coroutines.launch
import kotlinx.coroutines.yield
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.api.Test

/** Producers whose channel, or whose scope, is cancelled at any moment. A scope that fails fails the test. */
class ProduceStressTest : Stress() {
    /** The elements of one producer. Its close handler may still run when its consumers have ended. */
    private inner class Round {
        val sent = AtomicInteger()
        val received = AtomicInteger()
        val dropped = AtomicInteger()
        val closed = AtomicInteger()

        fun producerIn(scope: CoroutineScope): ReceiveChannel<Int> =
            scope.produce(capacity = oneOf(0, 1, 8), onDropped = { dropped.incrementAndGet() }) {
                channel.invokeOnClose { check(closed.incrementAndGet() == 1) }
                repeat(3) { child ->
                    launch {
                        repeat(20) {
                            send(child)
                            sent.incrementAndGet()
                        }
                    }
                }
                yieldSometimes()
                repeat(20) { if (trySend(it).isSuccess) sent.incrementAndGet() }
            }

        fun check() {
            assertEquals(sent.get(), received.get() + dropped.get())
            assertTrue(closed.get() <= 1)
            watchdog.progress()
        }
    }

    @Test
    fun channel_cancelledAtAnyMoment_failsNothingAndLosesNothing() = stress {
        repeat(ROUNDS) {
            val round = Round()
            coroutineScope {
                val numbers = round.producerIn(this)
                repeat(2) { launch { for (number in numbers) round.received.incrementAndGet() } }
                yieldUpTo(30)
                numbers.cancel()
            }
            round.check()
        }
    }

    /** The consumers are elsewhere: they take the rest, and then learn that it was not all. */
    @Test
    fun scope_cancelledAtAnyMoment_endsConsumersElsewhere() = stress {
        repeat(ROUNDS) {
            val round = Round()
            coroutineScope {
                val scope = CoroutineScope(coroutineContext + Job(coroutineContext.job))
                val numbers = round.producerIn(scope)
                repeat(2) { launch { while (numbers.receiveCatching().isSuccess) round.received.incrementAndGet() } }
                yieldUpTo(30)
                scope.cancel()
                yield()
            }
            round.check()
        }
    }

    private companion object {
        const val ROUNDS = 1_000
    }
}
