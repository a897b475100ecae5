package baton.test.corpus

import baton.sync.Barrier
import baton.sync.Mutex
import baton.sync.withLock
import kotlin.time.Duration.Companion.seconds
import kotlinx.coroutines.CancellationException
import kotlinx.coroutines.CompletableDeferred
import kotlinx.coroutines.CoroutineName
import kotlinx.coroutines.delay
import kotlinx.coroutines.flow.MutableSharedFlow
import kotlinx.coroutines.flow.MutableStateFlow
import kotlinx.coroutines.flow.first
import kotlinx.coroutines.flow.updateAndGet
import kotlinx.coroutines.launch

internal val wakeUpBugs =
    listOf(
        Bug("a wake-up is lost between the check and the wait", failure = DEADLOCK) { isRight ->
            var isReady = false
            var waiter: CompletableDeferred<Unit>? = null

            suspend fun awaitReady() {
                if (isReady) return
                call()
                val own = CompletableDeferred<Unit>().also { waiter = it }
                if (isRight && isReady) return
                own.await()
            }
            launch(CoroutineName("consumer")) { awaitReady() }
            launch(CoroutineName("producer")) {
                call(2)
                isReady = true
                waiter?.complete(Unit)
            }
        },
        // python/cpython #112202: the waiter that was notified is cancelled, and no other is.
        Bug("a cancelled waiter keeps its wake-up", failure = "1 left", cancels = true) { isRight ->
            val items = ArrayDeque<Int>()
            val waiters = ArrayDeque<CompletableDeferred<Unit>>()

            fun notifyFirst() = waiters.removeFirstOrNull()?.complete(Unit)

            suspend fun take(): Int {
                while (items.isEmpty()) {
                    val waiter = CompletableDeferred<Unit>().also { waiters += it }
                    try {
                        waiter.await()
                    } catch (e: CancellationException) {
                        if (!waiters.remove(waiter) && isRight) notifyFirst()
                        throw e
                    }
                }
                return items.removeFirst()
            }
            val takers = listOf("a", "b").map { launch(CoroutineName(it)) { take() } }
            call(2)
            items += 1
            notifyFirst()
            delay(1.seconds)
            check(items.isEmpty()) { "${items.size} left" }
            takers.forEach { it.cancel() }
        },
        // Kotlin/kotlinx.coroutines #3844: an event that is emitted before its subscriber collects is gone.
        Bug("an event comes before its subscriber", failure = DEADLOCK) { isRight ->
            val events = MutableSharedFlow<String>(replay = if (isRight) 1 else 0)
            launch(CoroutineName("subscriber")) { events.first() }
            launch(CoroutineName("publisher")) { events.emit("ready") }
        },
        Bug("a condition is signalled before the wait for it", failure = DEADLOCK) { isRight ->
            val mutex = Mutex()
            val changed = mutex.newCondition()
            var isDone = false
            launch(CoroutineName("waiter")) { mutex.withLock { if (!isRight || !isDone) changed.await() } }
            launch(CoroutineName("worker")) {
                mutex.withLock {
                    isDone = true
                    changed.signalAll()
                }
            }
        },
        // zephyrproject-rtos/zephyr #118999: a fast party begins the next round before all have seen the end of this.
        Bug("a barrier is used again too early", failure = DEADLOCK) { isRight ->
            val barrier = Barrier(2)
            val arrived = MutableStateFlow(0)

            suspend fun arrive() {
                if (isRight) {
                    barrier.arrive()
                } else if (arrived.updateAndGet { it + 1 } == 2) {
                    arrived.value = 0
                } else {
                    arrived.first { it == 0 }
                }
            }
            for (who in listOf("a", "b")) {
                launch(CoroutineName(who)) {
                    repeat(2) {
                        call()
                        arrive()
                    }
                }
            }
        },
    )
