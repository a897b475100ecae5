package guide.troubleshooting

import baton.interop.AsyncCondition
import baton.interop.AsyncMutex
import baton.interop.AsyncReadWriteLock
import baton.interop.CancellableFunction
import baton.interop.CancellableFuture
import baton.interop.TaskScope
import baton.sync.Barrier
import baton.sync.BarrierBrokenException
import baton.sync.Mutex
import baton.sync.ReadWriteLock
import baton.sync.Semaphore
import baton.sync.WaitGroup
import baton.sync.withLock
import baton.sync.withRead
import baton.tasks.SingleFlight
import java.util.concurrent.CompletableFuture
import java.util.concurrent.Executors
import java.util.concurrent.RejectedExecutionException
import kotlin.coroutines.CoroutineContext
import kotlin.time.Duration.Companion.milliseconds
import kotlinx.coroutines.CancellationException
import kotlinx.coroutines.CoroutineDispatcher
import kotlinx.coroutines.CoroutineScope
import kotlinx.coroutines.CoroutineStart
import kotlinx.coroutines.asCoroutineDispatcher
import kotlinx.coroutines.async
import kotlinx.coroutines.coroutineScope
import kotlinx.coroutines.delay
import kotlinx.coroutines.launch
import kotlinx.coroutines.supervisorScope

fun lockMessages(): List<Message> = locks() + conditions() + others() + cancellations()

private fun locks() =
    listOf(
        message<IllegalStateException>("… is already locked by …") {
            val mutex = Mutex()
            mutex.withLock(owner = "transfer") { mutex.lock(owner = "transfer") }
        },
        message<IllegalStateException>("unlock… of …, which is …") { Mutex().unlock() },
        message<IllegalStateException>("release of permits = …, more than are held: …") { Semaphore(1).release() },
        message<IllegalStateException>("… by … is refused: …") {
            val lock = ReadWriteLock()
            lock.lockWrite(owner = "import")
            lock.lockWrite(owner = "import")
        },
        message<IllegalStateException>("… by … would wait for ever: …") {
            val lock = ReadWriteLock()
            coroutineScope {
                lock.withRead(owner = "import") {
                    val writer = launch(start = CoroutineStart.UNDISPATCHED) { lock.lockWrite(owner = "other") }
                    try {
                        lock.lockRead(owner = "import")
                    } finally {
                        writer.cancel()
                    }
                }
            }
        },
        message<IllegalStateException>("downgrade of a permit that does not hold the write lock (…)") {
            val permit = AsyncReadWriteLock.create().lockWrite().join()
            repeat(2) { permit.downgrade() }
        },
    )

private fun conditions() =
    listOf(
        message<IllegalStateException>("… without the lock: …") { Mutex().newCondition().signal() },
        message<IllegalMonitorStateException>("… by a thread that does not hold the mutex: …") {
            AsyncMutex.create().blocking().newCondition().signal()
        },
        message<UnsupportedOperationException>("a read-write lock has no conditions; a mutex has") {
            AsyncReadWriteLock.create().blocking().readLock().newCondition()
        },
        message<IllegalArgumentException>("held = …, must be a permit of …") {
            newCondition(AsyncMutex.create()).await(AsyncMutex.create().lock().join()).join()
        },
        message<IllegalStateException>("await with a permit that is closed: …") {
            val mutex = AsyncMutex.create()
            val permit = mutex.lock().join()
            permit.close()
            newCondition(mutex).await(permit).join()
        },
    )

private fun newCondition(mutex: AsyncMutex): AsyncCondition = mutex.newCondition()

private fun others() =
    listOf(
        message<IllegalStateException>("done without add: the count of … is zero") { WaitGroup().done() },
        message<BarrierBrokenException>("… is broken: …") { Barrier(2).apply { abort() }.arrive() },
        message<BarrierBrokenException>("… was reset") {
            val barrier = Barrier(2)
            supervisorScope {
                val party = async(start = CoroutineStart.UNDISPATCHED) { barrier.arrive() }
                barrier.reset()
                party.await()
            }
        },
        message<IllegalStateException>("… inside itself, must not wait for itself") {
            val flight = SingleFlight<String, String>()
            flight.run("a") { flight.run("a") { it } }
        },
        message<IllegalStateException>("… was cancelled") {
            SingleFlight<String, String>().run("a") { throw CancellationException("stopped") }
        },
        message<IllegalStateException>("… from within the scope would wait for itself: …") {
            val threads = Executors.newCachedThreadPool()
            try {
                TaskScope.open(threads).use { scope -> scope.fork<Unit>(CancellableFunction { scope.join() }).join() }
            } finally {
                threads.shutdownNow()
            }
        },
    )

private fun cancellations() =
    listOf(
        message<CancellationException>("… was cancelled: the dispatcher of its coroutine refused to resume it") {
            waitOn(ClosedDispatcher())
        },
        message<CancellationException>("The task was rejected") {
            val thread = Executors.newSingleThreadExecutor()
            waitOn(thread.asCoroutineDispatcher()) { thread.shutdownNow() }
        },
        message<CancellationException>("cancel of the future was called") {
            val future = CancellableFuture.of(CompletableFuture<String>())
            future.cancel(true)
            future.handle { _, e -> e }.join()
        },
    )

private class ClosedDispatcher : CoroutineDispatcher() {
    override fun dispatch(context: CoroutineContext, block: Runnable): Unit = throw RejectedExecutionException("closed")
}

/** The failure of a waiter whose permit comes when [dispatcher] takes no coroutine any more. */
private suspend fun waitOn(dispatcher: CoroutineDispatcher, close: () -> Unit = {}): Throwable? {
    val semaphore = Semaphore(1, acquired = 1)
    val failure = CompletableFuture<Throwable?>()
    val start = if (dispatcher is ClosedDispatcher) CoroutineStart.UNDISPATCHED else CoroutineStart.DEFAULT
    val waiter =
        CoroutineScope(dispatcher).launch(start = start) {
            failure.complete(runCatching { semaphore.acquire() }.exceptionOrNull())
        }
    while (semaphore.waiting == 0) delay(1.milliseconds)
    close()
    semaphore.release()
    waiter.join()
    return failure.join()
}
