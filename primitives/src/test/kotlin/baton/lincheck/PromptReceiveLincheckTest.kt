package baton.lincheck

import baton.channels.Channel
import baton.lincheck.world.LincheckCase
import baton.lincheck.world.LincheckCoroutines
import baton.lincheck.world.NoAnswers
import baton.lincheck.world.Scenario
import baton.lincheck.world.after
import baton.lincheck.world.threads
import baton.sync.Semaphore
import baton.sync.WaitOrder
import java.util.concurrent.ConcurrentLinkedQueue
import java.util.concurrent.atomic.AtomicInteger
import org.jetbrains.lincheck.datastructures.Operation
import org.jetbrains.lincheck.datastructures.Validate

/**
 * Receivers are cancelled at any moment, also after they have got their element and before they run. Lincheck's own
 * prompt cancellation cannot express that an element was handed over and comes back. So every receiver is a coroutine
 * of its own here, and no operation returns anything. [everyElementIsSomewhere] checks the invariant at the end of
 * every interleaving.
 */
abstract class PromptReceiveLincheckBase(capacity: Int) : LincheckCase {
    override val model: Class<*>
        get() = NoAnswers::class.java

    override val generated
        get() = 30

    private val channel = Channel<Int>(capacity)

    private val receivers = LincheckCoroutines()
    private val received = ConcurrentLinkedQueue<Int>()
    private val sent = AtomicInteger()

    @Operation fun receive() = receivers.start({ channel.receive() }) { it.onSuccess(received::add) }

    @Operation fun cancel() = receivers.cancelOldest()

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

    override val scenarios: List<Scenario>
        get() =
            listOf(
                threads(
                        { actor(::cancel) },
                        {
                            actor(::trySend)
                            actor(::tryReceive)
                        },
                    )
                    .after { actor(::receive) },
                threads(
                        {
                            actor(::cancel)
                            actor(::step)
                        },
                        {
                            actor(::trySend)
                            actor(::trySend)
                        },
                    )
                    .after {
                        actor(::receive)
                        actor(::receive)
                    },
            )

    private companion object {
        const val SENT = 1
    }
}

class PromptRendezvousLincheckTest : PromptReceiveLincheckBase(capacity = 0)

class PromptReceiveLincheckTest : PromptReceiveLincheckBase(capacity = 1)

/**
 * [WaitOrder.UNFAIR]: a newcomer may take the permit to which a release has invited a waiter. The faster caller gets
 * the permit, so there is no sequential result to compare with: no operation returns anything. [nothingIsLost] checks
 * the invariant at the end of every interleaving.
 */
class UnfairSemaphoreLincheckTest : LincheckCase {
    override val model: Class<*>
        get() = NoAnswers::class.java

    override val generated
        get() = 10

    private val semaphore = Semaphore(PERMITS, order = WaitOrder.UNFAIR)

    private val waiters = LincheckCoroutines()
    private val held = AtomicInteger()

    /** A coroutine of its own acquires, and waits if it must. */
    @Operation fun acquire() = waiters.start({ semaphore.acquire() }) { if (it.isSuccess) held.incrementAndGet() }

    @Operation
    fun tryAcquire() {
        if (semaphore.tryAcquire()) held.incrementAndGet()
    }

    @Operation fun cancel() = waiters.cancelOldest()

    @Operation
    fun release() {
        while (true) {
            val now = held.get()
            if (now == 0) return
            if (held.compareAndSet(now, now - 1)) return semaphore.release()
        }
    }

    @Operation
    fun step() {
        waiters.step()
    }

    @Validate
    fun nothingIsLost() {
        waiters.runAll()
        check(held.get() in 0..PERMITS) { "$held hold $PERMITS permits" }
        check(semaphore.availablePermits == PERMITS - held.get()) { "$held are held: $semaphore" }
        check(semaphore.waiting == 0 || held.get() == PERMITS) { "a caller waits for a free permit: $semaphore" }
    }

    override val scenarios: List<Scenario>
        get() =
            listOf(
                threads(
                        {
                            actor(::release)
                            actor(::step)
                        },
                        {
                            actor(::cancel)
                            actor(::tryAcquire)
                        },
                    )
                    .after {
                        actor(::tryAcquire)
                        actor(::acquire)
                        actor(::acquire)
                    }
            )

    private companion object {
        const val PERMITS = 1
    }
}
