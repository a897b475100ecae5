package guide.migrating

import baton.Priority
import baton.channels.Channel // by name
import baton.channels.ChannelClosedException
import baton.channels.ChannelOrder
import baton.channels.OnFull
import baton.channels.ReceiveChannel
import baton.channels.SendChannel
import baton.channels.asFlow
import baton.channels.consumeAsFlow
import baton.channels.consumeEach
import baton.channels.getOrElse
import baton.channels.onClosed
import baton.channels.onFailure
import baton.channels.onSuccess
import baton.channels.produce
import baton.channels.receiveAsFlow
import baton.channels.receiveOrNull
import baton.channels.toList
import baton.parallel.getOrThrow
import baton.parallel.mapLimit
import baton.parallel.mapSettled
import baton.resilience.RetryPolicy
import baton.resilience.retry
import baton.scheduler.TaskScheduler
import baton.scheduler.prioritized
import baton.sync.Mutex
import baton.sync.Semaphore
import baton.sync.WaitOrder
import baton.sync.withLock
import baton.sync.withPermit
import baton.sync.withPermits
import java.io.IOException
import kotlin.time.Duration.Companion.milliseconds
import kotlin.time.Duration.Companion.seconds
import kotlinx.coroutines.CancellationException
import kotlinx.coroutines.CoroutineScope
import kotlinx.coroutines.CoroutineStart
import kotlinx.coroutines.Dispatchers
import kotlinx.coroutines.Job
import kotlinx.coroutines.async
import kotlinx.coroutines.awaitAll
import kotlinx.coroutines.cancelAndJoin
import kotlinx.coroutines.channels.Channel as TheirChannel
import kotlinx.coroutines.channels.produce as theirProduce
import kotlinx.coroutines.coroutineScope
import kotlinx.coroutines.delay
import kotlinx.coroutines.flow.asFlow
import kotlinx.coroutines.flow.flatMapMerge
import kotlinx.coroutines.flow.flow
import kotlinx.coroutines.flow.toList
import kotlinx.coroutines.job
import kotlinx.coroutines.launch
import kotlinx.coroutines.selects.onTimeout
import kotlinx.coroutines.selects.select
import kotlinx.coroutines.sync.Mutex as TheirMutex
import kotlinx.coroutines.test.TestScope
import kotlinx.coroutines.test.currentTime
import kotlinx.coroutines.test.runCurrent
import kotlinx.coroutines.test.runTest
import kotlinx.coroutines.withContext
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertFalse
import org.junit.jupiter.api.Assertions.assertNull
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.api.Test
import org.junit.jupiter.api.assertThrows

/** The Kotlin code of docs/MIGRATING.md; `MarkdownTest` compares the two. Where theirs differs, it runs beside ours. */
class MigratingFromKotlinxTest {
    private val logged = mutableListOf<Any?>()

    private fun log(what: Any?) {
        logged += what
    }

    /** Of the table. */
    @Test
    fun table_channels() = runTest {
        val scope: CoroutineScope = this
        Channel<Int>(capacity = 10, onFull = OnFull.DROP_OLDEST, onDropped = { log(it) })
        assertEquals(64, Channel<Int>(Channel.BUFFERED).capacity)
        assertEquals(1, Channel<Int>(Channel.CONFLATED).capacity)
        val numbers: ReceiveChannel<Int> = scope.produce(capacity = 10) { send(1) }
        numbers.consumeEach { log(it) }
        assertEquals(listOf<Int>(), numbers.toList())
        val channel = Channel<Int>(capacity = 10)
        val target: SendChannel<Int> = channel
        target.trySend(1).onFailure { log(it) }.onClosed { log(it) }
        channel.send(2, Priority.HIGH)
        channel.receiveCatching().onSuccess { log(it) }.getOrElse { 0 }
        channel.invokeOnClose { cause -> log(cause) }
        channel.close()
        channel.asFlow().collect { log(it) }
        channel.receiveAsFlow().collect { log(it) }
        channel.consumeAsFlow().collect { log(it) }
        assertTrue(channel.isClosed && channel.size == 0)
        assertTrue(channel.isClosedForSend && channel.isClosedForReceive)
        assertEquals(emptyList<Int>(), channel.receiveUpTo(10))
        assertTrue(channel.receiveCatching().isClosed)
        channel.cancel()
        assertNull(channel.receiveOrNull())
        assertEquals(listOf(1, 1, null, 2), logged)
        val messages = Channel<Int>()
        scope.launch { for (message in messages) log(message) }
        messages.send(1)
        messages.close()
        Channel<Int>(capacity = 10, order = ChannelOrder.PRIORITY)
    }

    @Test
    fun table_locksAndDispatchers() = runTest {
        val mutex = Mutex()
        mutex.withLock(owner = this) { assertTrue(mutex.holdsLock(this)) }
        assertTrue(mutex.tryLock(timeout = 50.milliseconds))
        val semaphore = Semaphore(permits = 10, acquired = 4)
        semaphore.withPermit { log("one") }
        semaphore.withPermits(3) { log("three") }
        assertTrue(semaphore.tryAcquire(timeout = 50.milliseconds))
        Semaphore(permits = 10, order = WaitOrder.PRIORITY)
        assertFalse(Semaphore(0).tryAcquire())
        val winner =
            select<String> {
                mutex.onLock { "locked" }
                semaphore.onAcquire { "acquired" }
                onTimeout(50.milliseconds) { "late" }
            }
        assertEquals("acquired", winner)
        assertEquals("done", withContext(Dispatchers.Default.prioritized(parallelism = 2)) { "done" })
        assertEquals(1, TaskScheduler(this, maxConcurrency = 3).schedule(Priority.HIGH) { 1 }.await())
    }

    private suspend fun fetch(url: String): String {
        if (url == "/slow") delay(1.seconds)
        return if (url == "/bad") throw IOException(url) else "page of $url"
    }

    @Test
    fun table_maps() = runTest {
        val urls = listOf("/slow", "/b")
        val pages = listOf("page of /slow", "page of /b")
        val policy = RetryPolicy(maxAttempts = 2)
        assertEquals(pages, urls.map { async { fetch(it) } }.awaitAll())
        assertEquals(pages, urls.mapLimit(5, cancelRunning = true) { fetch(it) })
        assertEquals(pages, urls.mapSettled(5) { fetch(it) }.map { it.getOrThrow() })
        val merged = urls.asFlow().flatMapMerge(concurrency = 5) { flow { emit(fetch(it)) } }.toList()
        assertEquals(pages.reversed(), merged)
        assertEquals(merged, urls.asFlow().mapLimit(5, ordered = false) { fetch(it) }.toList())
        assertEquals(pages, urls.asFlow().mapLimit(5) { url -> retry(policy) { fetch(url) } }.toList())
    }

    @Test
    fun firstFailure_ofAMap_waitsUnlessToldToCancel() = runTest {
        val urls = listOf("/slow", "/bad")
        assertThrows<IOException> { urls.mapLimit(5) { fetch(it) } }
        assertEquals(1_000, currentTime)
        assertThrows<IOException> { urls.mapLimit(5, cancelRunning = true) { fetch(it) } }
        assertThrows<IOException> { coroutineScope { urls.map { async { fetch(it) } }.awaitAll() } }
        assertEquals(1_000, currentTime)
    }

    @Test
    fun causeOfAClose_comesInAnExceptionFromReceiveAndSendAlone() = runTest {
        val left = Channel<Int>().apply { cancel() }
        assertThrows<ChannelClosedException> { left.send(1) } // kotlinx throws a CancellationException
        val failed = Channel<Int>().apply { close(IOException("lost")) }
        assertThrows<ChannelClosedException> { failed.receive() } // kotlinx throws the IOException, as ours does here:
        assertThrows<IOException> { for (element in failed) log(element) }
        assertTrue(failed.tryReceive().exceptionOrNull() is IOException)
        assertThrows<CancellationException> { TheirChannel<Int>().apply { cancel() }.send(1) }
        assertThrows<IOException> { TheirChannel<Int>().apply { close(IOException("lost")) }.receive() }
    }

    @Test
    fun close_failsWaitingSenders() = runTest {
        val channel = Channel<Int>()
        val sender = launch { assertThrows<ChannelClosedException> { channel.send(1) } }
        runCurrent()
        channel.close() // kotlinx leaves the sender, and its element, to the next receiver
        sender.join()
        val theirs = TheirChannel<Int>()
        launch { theirs.send(1) }
        runCurrent()
        theirs.close()
        assertEquals(1, theirs.receive())
    }

    @Test
    fun cancel_endsConsumersAndIsNoCancellation() = runTest {
        val channel = Channel<Int>(capacity = 10)
        val consumer = launch {
            for (element in channel) log(element)
            log("the end") // kotlinx throws a CancellationException instead, and ends the coroutine here
        }
        runCurrent()
        channel.cancel()
        assertThrows<ChannelClosedException> { channel.receive() } // fails the scope if it is not caught
        assertNull(channel.receiveOrNull())
        consumer.join()
        assertFalse(consumer.isCancelled)
        assertEquals(listOf<Any?>("the end"), logged)

        val theirs = TheirChannel<Int>()
        val theirConsumer = launch { for (element in theirs) log(element) }
        runCurrent()
        theirs.cancel()
        theirConsumer.join()
        assertTrue(theirConsumer.isCancelled)
    }

    /** In kotlinx it ends without a trace. */
    private suspend fun sendAll(channel: Channel<Int>) = coroutineScope {
        launch {
            try {
                for (number in 1..10) channel.send(number)
            } catch (_: ChannelClosedException) {
                log("no receiver is left")
            }
        }
    }

    @Test
    fun producers_ofACancelledChannel_endQuietlyIfTheyAreMadeByProduce() = runTest {
        val channel = Channel<Int>().apply { cancel() }
        sendAll(channel)
        assertEquals(listOf<Any?>("no receiver is left"), logged)
        val numbers = produce { for (number in 1..10) send(number) }
        numbers.receive()
        numbers.cancel() // cancels the coroutine of the producer, and nothing else
        runCurrent()
        assertTrue(coroutineContext.job.children.none { it.isActive })
    }

    private fun scopeOf(test: TestScope) = CoroutineScope(test.coroutineContext + Job(test.coroutineContext.job))

    @Test
    fun producerThatIsCancelled_doesNotLookLikeTheEnd() = runTest {
        val scope = scopeOf(this)
        val theirScope = scopeOf(this)
        val numbers = scope.produce<Int> { send(1) }
        val theirs = theirScope.theirProduce<Int> { send(1) }
        for (each in listOf(scope, theirScope)) each.coroutineContext.job.cancelAndJoin()
        try {
            for (number in numbers) log(number)
        } catch (e: ChannelClosedException) {
            log(e.cause is CancellationException) // kotlinx throws the CancellationException itself
        }
        assertEquals(listOf<Any?>(true), logged)
        assertThrows<CancellationException> { for (number in theirs) log(number) }
    }

    @Test
    fun elementOfACancelledReceiver_comesBack() = runTest {
        val channel = Channel<String>(capacity = 1, onDropped = { log("dropped $it") })
        val receiver = launch { channel.receive() }
        runCurrent()
        channel.send("a")
        receiver.cancelAndJoin()
        assertEquals("a", channel.receive()) // kotlinx has given it to onUndeliveredElement
        assertEquals(listOf<Any?>(), logged)

        val theirs = TheirChannel<String>(capacity = 1, onUndeliveredElement = { log(it) })
        val theirReceiver = launch { theirs.receive() }
        runCurrent()
        theirs.send("a")
        theirReceiver.cancelAndJoin()
        assertEquals(listOf<Any?>("a"), logged)
        assertTrue(theirs.tryReceive().isFailure)
    }

    @Test
    fun timeout_outsideOfAnAcquire_mayLoseThePermit() = runTest {
        val semaphore = Semaphore(permits = 1)
        if (semaphore.tryAcquire(timeout = 50.milliseconds)) { // not withTimeoutOrNull(50) { semaphore.acquire() }
            try {
                log("acquired")
            } finally {
                semaphore.release()
            }
        }
        assertEquals(1, semaphore.availablePermits)
    }

    @Test
    fun unlock_withoutTheOwner_isRefused() {
        val mutex = Mutex()
        mutex.tryLock(owner = "me")
        assertThrows<IllegalStateException> { mutex.unlock() } // kotlinx unlocks it
        mutex.unlock("me")
        assertFalse(mutex.isLocked)
        val theirs = TheirMutex()
        theirs.tryLock("me")
        theirs.unlock()
        assertFalse(theirs.isLocked)
    }

    @Test
    fun clauses_ofOneObject_mayStandInOneSelect() = runTest {
        val channel = Channel<String>()
        launch(start = CoroutineStart.UNDISPATCHED) { channel.send("b") }
        val done =
            select<String> {
                channel.onReceive { it }
                channel.onSend("a") { "sent" } // kotlinx refuses two clauses of one channel
            }
        assertEquals("b", done)
        val theirs = TheirChannel<String>()
        assertThrows<IllegalStateException> {
            select<Unit> {
                theirs.onReceive { log(it) }
                theirs.onSend("a") { log("sent") }
            }
        }
    }
}
