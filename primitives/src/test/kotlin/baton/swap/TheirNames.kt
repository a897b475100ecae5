@file:Suppress("DEPRECATION") // Of kotlinx' onLock.
@file:OptIn(ExperimentalCoroutinesApi::class, DelicateCoroutinesApi::class) // For kotlinx' produce and isClosedFor….

package baton.swap

import kotlinx.coroutines.CoroutineScope
import kotlinx.coroutines.DelicateCoroutinesApi
import kotlinx.coroutines.ExperimentalCoroutinesApi
import kotlinx.coroutines.Job
import kotlinx.coroutines.async
import kotlinx.coroutines.cancelAndJoin
import kotlinx.coroutines.channels.Channel
import kotlinx.coroutines.channels.ChannelResult
import kotlinx.coroutines.channels.ProducerScope
import kotlinx.coroutines.channels.ReceiveChannel
import kotlinx.coroutines.channels.SendChannel
import kotlinx.coroutines.channels.consume
import kotlinx.coroutines.channels.consumeEach
import kotlinx.coroutines.channels.getOrElse
import kotlinx.coroutines.channels.onClosed
import kotlinx.coroutines.channels.onFailure
import kotlinx.coroutines.channels.onSuccess
import kotlinx.coroutines.channels.produce
import kotlinx.coroutines.channels.toList
import kotlinx.coroutines.coroutineScope
import kotlinx.coroutines.flow.Flow
import kotlinx.coroutines.flow.consumeAsFlow
import kotlinx.coroutines.flow.first
import kotlinx.coroutines.flow.receiveAsFlow
import kotlinx.coroutines.isActive
import kotlinx.coroutines.job
import kotlinx.coroutines.launch
import kotlinx.coroutines.selects.select
import kotlinx.coroutines.supervisorScope
import kotlinx.coroutines.sync.Mutex
import kotlinx.coroutines.sync.Semaphore
import kotlinx.coroutines.sync.withLock
import kotlinx.coroutines.sync.withPermit
import kotlinx.coroutines.yield

/** Code that uses each name of ours that kotlinx has too. `TheirNames.kt` is this file with kotlinx's imports. */
internal val theirNames = SharedNames {
    val members =
        mapOf<String, suspend (ChannelResult<Int>) -> Any?>(
            "isSuccess, isFailure, isClosed" to { listOf(it.isSuccess, it.isFailure, it.isClosed) },
            "getOrNull" to { it.getOrNull() },
            "getOrThrow" to { it.getOrThrow() },
            "exceptionOrNull" to { it.exceptionOrNull() },
            "getOrElse" to { result -> "${result.getOrElse { if (it == null) 0 else 1 }}" },
            "onSuccess" to { result -> seen { see -> result.onSuccess { see(it) } } },
            "onFailure" to { result -> seen { see -> result.onFailure { see(it) } } },
            "onClosed" to { result -> seen { see -> result.onClosed { see(it) } } },
            "equals" to { it == Channel<Int>(1).tryReceive() },
        )
    val uses =
        mapOf<String, suspend (Channel<Int>) -> Any?>(
            "send" to { it.send(7) },
            "trySend" to { channel -> channel.trySend(7).run { listOf(isSuccess, isClosed, exceptionOrNull()) } },
            "onSend" to { channel -> select { channel.onSend(7) { it === channel } } },
            "receive" to { it.receive() },
            "onReceive" to { channel -> select { channel.onReceive { it } } },
            "for" to { channel -> seen { see -> for (element in channel) see(element) } },
            "consumeEach" to { channel -> seen { see -> channel.consumeEach { see(it) } } },
            "toList" to { it.toList() },
            "receiveAsFlow" to { channel -> seen { see -> channel.receiveAsFlow().collect { see(it) } } },
            "consumeAsFlow" to { channel -> seen { see -> channel.consumeAsFlow().collect { see(it) } } },
            "isClosedForSend, isClosedForReceive" to { listOf(it.isClosedForSend, it.isClosedForReceive) },
            "close" to { it.close() },
            "cancel" to { it.cancel() },
            "invokeOnClose" to { channel -> seen { see -> channel.invokeOnClose { see(it) } } },
        )
    val ends =
        mapOf<String, (Channel<Int>) -> Any?>(
            "close()" to { it.close() },
            "close(Boom())" to { it.close(Boom()) },
            "close(Gone())" to { it.close(Gone()) },
            "cancel()" to { it.cancel() },
            "cancel(Gone())" to { it.cancel(Gone()) },
        )
    for ((member, read) in members) {
        "$member of an element" { read(Channel<Int>(1).apply { send(1) }.tryReceive()) }
        "$member of nothing" { read(Channel<Int>(1).tryReceive()) }
        for ((end, stop) in ends) {
            "$member after $end" { read(Channel<Int>(1).also { stop(it) }.tryReceive()) }
            "$member of receiveCatching during $end" {
                val channel = Channel<Int>()
                val result = async { outcome { read(channel.receiveCatching()) } }
                yield()
                stop(channel)
                result.await()
            }
            "$member of onReceiveCatching after $end" {
                val channel = Channel<Int>().also { stop(it) }
                select { channel.onReceiveCatching { it } }.let { read(it) }
            }
        }
    }
    for ((use, run) in uses) {
        "$use of an open channel" { run(Channel<Int>(2).apply { send(1) }) }
        for ((end, stop) in ends) {
            "$use after $end" { run(Channel<Int>(2).also { stop(it) }) }
            "$use after $end with an element left" {
                val channel = Channel<Int>(2).apply { send(1) }
                stop(channel)
                run(channel)
            }
            "$use during $end" {
                val channel = Channel<Int>()
                val outcome = async { outcome { run(channel) } }
                yield()
                stop(channel)
                outcome.await()
            }
        }
    }
    "constants" {
        val buffered = Channel<Int>(Channel.BUFFERED)
        val rendezvous = Channel<Int>(Channel.RENDEZVOUS)
        val unlimited = Channel<Int>(Channel.UNLIMITED)
        val conflated = Channel<Int>(Channel.CONFLATED)
        listOf(buffered, rendezvous, unlimited, conflated).map { channel ->
            val taken = (1..1_000).count { channel.trySend(it).isSuccess }
            taken to channel.tryReceive().getOrNull()
        }
    }
    "Channel of a negative capacity" { Channel<Int>(-5) }
    "send and receive meet in the order of their calls" {
        seen { see ->
            val channel = Channel<Int>()
            coroutineScope {
                for (name in 1..3) launch { see("$name got ${channel.receive()}") }
                yield()
                for (number in 1..6) launch { channel.send(number).also { see("sent $number") } }
                yield()
                for (name in 4..6) launch { see("$name got ${channel.receive()}") }
            }
        }
    }
    "a cancelled send, a cancelled receive" {
        val channel = Channel<Int>()
        launch { channel.send(1) }.also { yield() }.cancelAndJoin()
        launch { channel.receive() }.also { yield() }.cancelAndJoin()
        listOf(channel.tryReceive().isSuccess, channel.trySend(2).isSuccess)
    }
    "the losing clauses of a select" {
        val channel = Channel<Int>()
        val other = Channel<Int>(1).apply { send(1) }
        val won = select { channel.onReceive { "received" }.also { other.onReceive { "other" } } }
        listOf(won, channel.trySend(2).isSuccess)
    }
    "invokeOnClose before close(Boom()) and cancel()" {
        seen { see ->
            val channel = Channel<Int>().apply { invokeOnClose { see(it) } }
            see(listOf(channel.close(Boom()), channel.close(), channel.cancel()))
        }
    }
    "a second invokeOnClose" {
        Channel<Int>().run { listOf<Unit?>(null).also { invokeOnClose {} }.also { invokeOnClose {} } }
    }
    "ChannelIterator" {
        val iterator = Channel<Int>(2).apply { send(1).also { close() } }.iterator()
        listOf(iterator.hasNext(), iterator.hasNext(), iterator.next(), iterator.hasNext(), iterator.hasNext())
    }
    "next without hasNext" { Channel<Int>(1).apply { send(1) }.iterator().next() }
    "next after the end" { Channel<Int>(1).apply { close() }.iterator().apply { hasNext() }.next() }
    for ((exit, leave) in mapOf<String, (Int) -> Unit>("return" to {}, "Boom" to { throw Boom() })) {
        "consume left by $exit" {
            val channel = Channel<Int>(2).apply { send(1) }
            val left = outcome { channel.consume { leave(receive()) } }
            listOf(left, channel.trySend(2).isClosed, channel.tryReceive().getOrNull())
        }
        "consumeEach left by $exit" {
            val channel = Channel<Int>(3).apply { for (number in 1..2) send(number) }.also { it.close() }
            val left = outcome { channel.consumeEach(leave) }
            listOf(left, channel.tryReceive().getOrNull())
        }
    }
    for ((name, flowOf) in
        mapOf<String, (ReceiveChannel<Int>) -> Flow<Int>>(
            "receiveAsFlow" to { it.receiveAsFlow() },
            "consumeAsFlow" to { it.consumeAsFlow() },
        )) {
        "$name is collected by two" {
            val channel = Channel<Int>()
            val flow = flowOf(channel)
            val first = launch { flow.collect {} }
            yield()
            val second = async { outcome { seen { see -> flow.collect { see(it) } } } }
            yield()
            channel.close()
            first.join()
            second.await()
        }
        "$name is collected again after its end" {
            val flow = flowOf(Channel<Int>(1).apply { send(1).also { close() } })
            List(2) { outcome { seen { see -> flow.collect { see(it) } } } }
        }
        "$name twice of one channel" {
            val channel = Channel<Int>(2).apply { for (number in 1..2) send(number) }
            List(2) { outcome { flowOf(channel).first() } }
        }
        "$name whose collector is cancelled" {
            val channel = Channel<Int>(1)
            launch { flowOf(channel).collect {} }.also { yield() }.cancelAndJoin()
            channel.trySend(1).isClosed
        }
        "$name whose collector fails" {
            val channel = Channel<Int>(2).apply { for (number in 1..2) send(number) }
            listOf(outcome { flowOf(channel).collect { throw Boom() } }, channel.trySend(3).isClosed)
        }
        "$name whose collector is cancelled before it begins" {
            val channel = Channel<Int>(1)
            val collector = launch {
                coroutineContext.job.cancel()
                flowOf(channel).collect {}
            }
            collector.join()
            channel.trySend(1).isClosed
        }
        "$name that is never collected" { flowOf(Channel<Int>(1).apply { send(1) }).let { true } }
    }
    val producers =
        mapOf<String, suspend ProducerScope<Int>.() -> Unit>(
            "returns" to { for (number in 1..3) send(number) },
            "fails" to { send(1).also { throw Boom() } },
            "throws Gone" to { send(1).also { throw Gone() } },
            "closes its channel" to { channel.send(1).also { channel.close() } },
            "has a child" to { launch { send(2) }.also { send(1) } },
        )
    for ((what, block) in producers) {
        for (capacity in 0..1) {
            "a producer of capacity $capacity that $what" {
                seen { see ->
                    see(
                        outcome {
                            coroutineScope {
                                val numbers = produce(capacity = capacity, block = block)
                                see(outcome { for (number in numbers) see(number) })
                            }
                        }
                    )
                }
            }
        }
    }
    for ((left, leave) in
        mapOf<String, suspend (ReceiveChannel<Int>, CoroutineScope) -> Any?>(
            "cancelled" to { numbers, _ -> numbers.cancel() },
            "consumed" to { numbers, _ -> numbers.consume { receive() } },
            "cancelled with its scope" to { _, scope -> scope.coroutineContext.job.cancelAndJoin() },
        )) {
        "a producer that is $left" {
            seen { see ->
                supervisorScope {
                    val scope = CoroutineScope(coroutineContext + Job(coroutineContext.job))
                    val numbers =
                        scope.produce<Int> {
                            try {
                                for (number in 1..9) send(number)
                            } finally {
                                see("ended")
                            }
                        }
                    yield()
                    leave(numbers, scope)
                    yield()
                    see(scope.isActive)
                    scope.coroutineContext.job.cancelAndJoin()
                }
            }
        }
    }
    "SendChannel and ReceiveChannel" {
        val channel = Channel<Int>(1)
        val target: SendChannel<Int> = channel
        val source: ReceiveChannel<Number> = channel
        target.send(1)
        source.receive()
    }
    val owners = listOf(null, "me", "you")
    for (lock in owners) {
        for (next in owners) {
            "unlock($next) of a mutex locked by $lock" {
                val mutex = Mutex().apply { lock(lock) }
                listOf(outcome { mutex.unlock(next) }, mutex.isLocked, mutex.holdsLock("me"))
            }
            "tryLock($next) of a mutex locked by $lock" { Mutex().apply { lock(lock) }.tryLock(next) }
            "lock($next) of a mutex locked by $lock" { Mutex().apply { lock(lock) }.lock(next) }
            "onLock($next) of a mutex locked by $lock" {
                Mutex().apply { lock(lock) }.let { select { it.onLock(next) {} } }
            }
            "withLock($next) of a mutex locked by $lock" { Mutex().apply { lock(lock) }.withLock(next) { "locked" } }
        }
        "withLock($lock) left by a failure" {
            val mutex = Mutex()
            listOf(outcome { mutex.withLock(lock) { throw Boom() } }, mutex.isLocked)
        }
        "onLock($lock) of a free mutex" {
            Mutex().run { select { onLock(lock) { it.isLocked } }.let { listOf(it, holdsLock("me")) } }
        }
        "unlock($lock) of a free mutex" { Mutex().unlock(lock) }
    }
    "a mutex that starts locked" { Mutex(locked = true).run { listOf(isLocked, tryLock(), unlock(), tryLock()) } }
    "lock in the order of the calls" {
        seen { see ->
            val mutex = Mutex(true)
            coroutineScope {
                val waiters = List(4) { launch { mutex.withLock { see(it) } } }
                yield()
                waiters[1].cancel()
                mutex.unlock()
            }
        }
    }
    for ((permits, acquired) in listOf(1 to 0, 3 to 3, 3 to 1, 3 to 4, 3 to -1, -1 to 0)) {
        "Semaphore($permits, $acquired)" {
            with(Semaphore(permits, acquired)) { listOf(availablePermits, tryAcquire(), availablePermits) }
        }
        "release of Semaphore($permits, $acquired)" {
            with(Semaphore(permits, acquired)) { listOf(outcome { release() }, availablePermits) }
        }
    }
    "Semaphore of no permits" { Semaphore(0).tryAcquire() }
    "acquire of a semaphore without free permits" { Semaphore(1, 1).acquire() }
    "withPermit left by a failure" {
        with(Semaphore(1)) { listOf(outcome { withPermit { throw Boom() } }, availablePermits) }
    }
    "acquire in the order of the calls" {
        seen { see ->
            val semaphore = Semaphore(2, 2)
            coroutineScope {
                val waiters = List(4) { launch { semaphore.acquire().also { _ -> see(it) } } }
                yield()
                waiters[1].cancelAndJoin()
                repeat(3) { semaphore.release() }
            }
        }
    }
}
