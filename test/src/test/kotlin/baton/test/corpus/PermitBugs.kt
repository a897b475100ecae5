package baton.test.corpus

import baton.channels.Channel
import baton.sync.Mutex
import baton.sync.Semaphore
import baton.sync.withLock
import baton.sync.withPermit
import kotlinx.coroutines.CancellationException
import kotlinx.coroutines.CoroutineName
import kotlinx.coroutines.launch

internal val permitBugs =
    listOf(
        Bug("two locks in opposite order", failure = DEADLOCK) { isRight ->
            class Account(val id: Int) {
                val mutex = Mutex(name = "account $id")
                var balance = 100
            }

            suspend fun transfer(from: Account, to: Account) {
                val (first, second) = if (isRight) listOf(from, to).sortedBy { it.id } else listOf(from, to)
                first.mutex.withLock {
                    second.mutex.withLock {
                        from.balance--
                        to.balance++
                    }
                }
            }
            val accounts = List(2) { Account(it) }
            launch(CoroutineName("a")) { transfer(accounts[0], accounts[1]) }
            launch(CoroutineName("b")) { transfer(accounts[1], accounts[0]) }
        },
        // ClickHouse/clickhouse-go #1759: a caller that is cancelled while it waits for a connection keeps its slot.
        Bug("a permit is not given back on cancellation", failure = "1 of 2 permits", cancels = true) { isRight ->
            val slots = Semaphore(2)
            val idle = Channel<String>(capacity = 2).apply { trySend("connection") }

            suspend fun query() {
                slots.acquire()
                val connection =
                    try {
                        idle.receive()
                    } catch (e: CancellationException) {
                        if (isRight) slots.release()
                        throw e
                    }
                try {
                    call()
                } finally {
                    idle.trySend(connection)
                    slots.release()
                }
            }
            for (who in listOf("a", "b")) launch(CoroutineName(who)) { query() }
            afterwards { check(slots.availablePermits == 2) { "${slots.availablePermits} of 2 permits" } }
        },
        // AsyncHttpClient/async-http-client #2280: both the failure and the end give the permit back.
        Bug("a permit is given back twice", failure = "permit", cancels = true) { isRight ->
            val permits = Semaphore(2)
            var running = 0

            suspend fun request() {
                permits.acquire()
                try {
                    check(++running <= 2) { "$running permits are used" }
                    call()
                } catch (e: CancellationException) {
                    if (!isRight) permits.release()
                    throw e
                } finally {
                    running--
                    permits.release()
                }
            }
            for (who in listOf("a", "b", "c", "d")) launch(CoroutineName(who)) { request() }
        },
        // zed-industries/zed #47494: who holds a permit waits for its own children, which need one, too.
        Bug("parents and children share a limit", failure = DEADLOCK) { isRight ->
            val requests = Semaphore(2)

            suspend fun child() = requests.withPermit { call() }

            suspend fun parent() {
                requests.withPermit {
                    call()
                    if (!isRight) child()
                }
                if (isRight) child()
            }
            launch(CoroutineName("a")) { parent() }
            launch(CoroutineName("b")) {
                call(3)
                parent()
            }
        },
    )
