package guide.troubleshooting

import baton.channels.Channel
import baton.channels.consumeAsFlow
import baton.interop.AsyncChannel
import baton.interop.AsyncSemaphore
import baton.interop.Select
import baton.interop.Tasks
import baton.parallel.Outcome
import baton.parallel.getOrThrow
import java.time.Duration
import java.util.concurrent.CompletableFuture
import java.util.concurrent.CompletionStage
import java.util.concurrent.Flow
import java.util.function.Supplier
import java.util.stream.Stream
import kotlinx.coroutines.flow.collect

fun channelMessages(): List<Message> = channels() + selects() + streams()

private fun channels() =
    listOf(
        message<IllegalStateException>("reserve with capacity = 0, must be at least 1: …") { Channel<Int>().reserve() },
        message<IllegalStateException>("send to a place that was used or given back: …") {
            val place = Channel<Int>(capacity = 2).reserve()
            repeat(2) { place.send(it) }
        },
        message<IllegalStateException>("next() without hasNext() before it") { Channel<Int>().iterator().next() },
        message<IllegalStateException>("a second collection of consumeAsFlow() of …") {
            val flow = Channel<Int>().apply { close() }.consumeAsFlow()
            repeat(2) { flow.collect() }
        },
        message<NullPointerException>("the next element is null, and stays in …") {
            val channel = AsyncChannel.create<String?>(1)
            channel.trySend(null)
            channel.tryReceive()
        },
    )

private fun selects() =
    listOf(
        message<IllegalStateException>("start of a select without clauses: it would never end") {
            Select.first<String>().start()
        },
        message<IllegalStateException>("a change after the start of …") {
            val select = Select.first<String>().onTimeout(Duration.ZERO) { "late" }
            select.start()
            select.unbiased()
        },
    )

private fun streams() =
    listOf(
        message<IllegalStateException>("the stream has a subscription already, and can be read once") {
            val chunks = Tasks.processInChunks(Stream.of("a"), 1, 1) { CompletableFuture.completedFuture(it) }
            failureOf(chunks)
            failureOf(chunks)
        },
        message<NullPointerException>("the stage has the value null, which a publisher cannot signal") {
            val channel = AsyncChannel.create<String>(1)
            channel.trySend("a")
            failureOf(Tasks.mapLimit(channel.publisher(), 1) { CompletableFuture.completedFuture<String>(null) })
        },
        message<NullPointerException>("the action returned null instead of a stage") {
            @Suppress("UNCHECKED_CAST") // As Java may do it.
            val action = Supplier { null } as Supplier<CompletionStage<String>>
            AsyncSemaphore.create(1).withPermit(action).join()
        },
        message<IllegalStateException>("no value: the element was not started") { Outcome.NotStarted.getOrThrow() },
    )

/** The failure with which the publisher ends, or null. */
private fun <T : Any> failureOf(publisher: Flow.Publisher<T>): Throwable? {
    val end = CompletableFuture<Throwable?>()
    publisher.subscribe(
        object : Flow.Subscriber<T> {
            override fun onSubscribe(subscription: Flow.Subscription) = subscription.request(Long.MAX_VALUE)

            override fun onNext(item: T) {}

            override fun onError(throwable: Throwable) {
                end.complete(throwable)
            }

            override fun onComplete() {
                end.complete(null)
            }
        }
    )
    return end.join()
}
