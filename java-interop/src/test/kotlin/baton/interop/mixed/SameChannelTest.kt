package baton.interop.mixed

import baton.channels.Channel
import baton.interop.AsyncChannel
import baton.interop.Select
import java.time.Duration
import java.util.concurrent.CompletableFuture
import java.util.concurrent.Flow
import kotlinx.coroutines.CoroutineScope
import kotlinx.coroutines.Dispatchers
import kotlinx.coroutines.SupervisorJob
import kotlinx.coroutines.cancel
import kotlinx.coroutines.launch
import kotlinx.coroutines.selects.select
import org.junit.jupiter.api.AfterEach
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Test

/** Coroutines, clauses of both selects, futures, reservations and subscriptions share the queues of one channel. */
class SameChannelTest {
    private val scope = CoroutineScope(SupervisorJob() + Dispatchers.Unconfined)
    private val idle = AsyncChannel.create<Int>(0)

    @AfterEach fun end() = scope.cancel()

    private class Line(capacity: Int) {
        val channel = Channel<Int>(capacity)
        val java: AsyncChannel<Int> = AsyncChannel.of(channel)
        val received = mutableListOf<Pair<Int, Int>>()
    }

    /** Each starts the waiting receiver with that number, and returns the action that withdraws it. */
    private val receivers: List<Line.(Int) -> (() -> Unit)> =
        listOf(
            { number -> scope.launch { received += number to channel.receive() }.let { { it.cancel() } } },
            { number ->
                scope.launch { received += number to select { channel.onReceive { it } } }.let { { it.cancel() } }
            },
            { number -> java.receive().also { it.thenAccept { received += number to it } }.leaving() },
            { number ->
                java.receive(Duration.ofDays(1)).also { it.thenAccept { received += number to it } }.leaving()
            },
            { number ->
                val first = Select.first<Unit>().onReceive(idle) {}
                first.onReceive(java) { received += number to it }.start().leaving()
            },
            { number ->
                lateinit var subscription: Flow.Subscription
                java
                    .publisher()
                    .subscribe(
                        object : Flow.Subscriber<Int> {
                            override fun onSubscribe(s: Flow.Subscription) {
                                subscription = s
                                s.request(1)
                            }

                            override fun onNext(element: Int) {
                                received += number to element
                            }

                            override fun onError(why: Throwable) = throw why

                            override fun onComplete() = Unit
                        }
                    )
                val leave = { subscription.cancel() }
                leave
            },
        )

    /** As [receivers], but each sends its number. */
    private val senders: List<Line.(Int) -> (() -> Unit)> =
        listOf(
            { number -> scope.launch { channel.send(number) }.let { { it.cancel() } } },
            { number -> scope.launch { select { channel.onSend(number) {} } }.let { { it.cancel() } } },
            { number -> scope.launch { channel.reserve().send(number) }.let { { it.cancel() } } },
            { number -> java.send(number).leaving() },
            { number -> java.send(number, Duration.ofDays(1)).leaving() },
            { number -> java.reserve().also { it.thenAccept { place -> place.send(number) } }.leaving() },
            { number ->
                val first = Select.first<Unit>().onReceive(idle) {}
                first.onSend(java, number) {}.start().leaving()
            },
        )

    private fun CompletableFuture<*>.leaving(): () -> Unit = { cancel(false) }

    private fun forEachCombination(
        kinds: List<Line.(Int) -> (() -> Unit)>,
        line: () -> Line,
        test: Line.(List<() -> Unit>) -> Unit,
    ) {
        for (one in kinds) {
            for (two in kinds) {
                for (three in kinds) {
                    val fresh = line()
                    val leave = listOf(one, two, three).mapIndexed { number, kind -> fresh.kind(number) }
                    assertEquals(3, fresh.channel.waiting)
                    fresh.test(leave)
                    assertEquals(0, fresh.channel.waiting)
                    assertEquals(0, idle.waiting())
                }
            }
        }
    }

    @Test
    fun receivers_ofAllKindsInEveryCombination_areServedInOrderOfArrival() {
        for (capacity in 0..1) {
            forEachCombination(receivers, { Line(capacity) }) {
                for (element in 10..12) assertEquals(true, java.trySend(element))
                assertEquals(listOf(0 to 10, 1 to 11, 2 to 12), received)
            }
        }
    }

    @Test
    fun receivers_whenAnyOneLeaves_keepTheirOrder() {
        for (leaver in 0..2) {
            forEachCombination(receivers, { Line(0) }) { leave ->
                leave[leaver]()
                for (element in 10..11) assertEquals(true, java.trySend(element))
                assertEquals(listOf(0, 1, 2) - leaver zip listOf(10, 11), received)
            }
        }
    }

    @Test
    fun senders_ofAllKindsInEveryCombination_areServedInOrderOfArrival() {
        forEachCombination(senders, { Line(1).apply { java.trySend(-1) } }) {
            for (element in -1..2) assertEquals(element, java.receive().join())
            assertEquals(0, channel.size)
        }
    }

    @Test
    fun senders_whenAnyOneLeaves_keepTheirOrder() {
        for (leaver in 0..2) {
            forEachCombination(senders, { Line(1).apply { java.trySend(-1) } }) { leave ->
                leave[leaver]()
                for (element in listOf(-1, 0, 1, 2) - leaver) assertEquals(element, java.receive().join())
                assertEquals(false, java.tryReceive().isPresent)
            }
        }
    }
}
