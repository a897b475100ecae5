package baton.test.corpus

import baton.channels.Channel
import kotlinx.coroutines.CoroutineName
import kotlinx.coroutines.NonCancellable
import kotlinx.coroutines.async
import kotlinx.coroutines.channels.Channel as KotlinxChannel
import kotlinx.coroutines.channels.ClosedSendChannelException
import kotlinx.coroutines.launch
import kotlinx.coroutines.selects.select
import kotlinx.coroutines.withContext

internal val channelBugs =
    listOf(
        // Kotlin/kotlinx.coroutines #974: the channel is closed between isClosedForSend and the send.
        Bug("a channel is closed after the check", failure = "Channel was closed") { isRight ->
            val events = KotlinxChannel<String>(1)
            launch(CoroutineName("callback")) {
                if (events.isClosedForSend) return@launch
                call()
                if (isRight) events.trySend("page") else events.send("page")
            }
            launch(CoroutineName("owner")) {
                call(2)
                events.close()
            }
        },
        Bug("a channel is closed while its sender waits", failure = DEADLOCK) { isRight ->
            val jobs = KotlinxChannel<Int>()
            var isStopped = false
            launch(CoroutineName("sender")) {
                try {
                    for (job in 1..2) jobs.send(job)
                    jobs.close()
                } catch (_: ClosedSendChannelException) {
                    // The worker has stopped.
                }
            }
            launch(CoroutineName("worker")) {
                for (job in jobs) if (isStopped) break
                if (isRight) jobs.cancel() else jobs.close()
            }
            launch(CoroutineName("owner")) {
                call(4)
                isStopped = true
            }
        },
        // moby/swarmkit #604: two coroutines that see the end close, each because it has not seen the other do so.
        Bug("a connection is closed twice", failure = "closed 2 times") { isRight ->
            val frames = Channel<Int>()
            var isClosed = false
            var closes = 0

            suspend fun close() {
                if (isClosed) return
                if (isRight) isClosed = true
                call()
                isClosed = true
                closes++
            }
            launch(CoroutineName("reader")) {
                for (frame in frames) call()
                close()
            }
            launch(CoroutineName("owner")) {
                frames.send(1)
                frames.close()
                call(4)
                close()
            }
            afterwards { check(closes == 1) { "closed $closes times" } }
        },
        // Kotlin/kotlinx.coroutines #1355, marmot-protocol/mdk #712: the losing side of a select has taken an element.
        Bug("a select loses an element", failure = "stored [") { isRight ->
            val inbox = Channel<Int>(capacity = 2)
            val stop = Channel<Unit>(capacity = 1)
            val stored = mutableListOf<Int>()

            suspend fun storeNext() {
                val message = inbox.receive()
                if (isRight) {
                    withContext(NonCancellable) {
                        call()
                        stored += message
                    }
                } else {
                    call()
                    stored += message
                }
            }
            launch(CoroutineName("worker")) {
                while (true) {
                    val next = async(CoroutineName("next")) { storeNext() }
                    val goesOn = select {
                        next.onAwait { true }
                        stop.onReceive { false }
                    }
                    if (!goesOn) return@launch next.cancel()
                }
            }
            launch(CoroutineName("sender")) {
                for (message in 1..2) inbox.send(message)
                call(12)
                stop.send(Unit)
            }
            afterwards {
                while (true) stored += inbox.tryReceive().getOrNull() ?: break
                check(stored == listOf(1, 2)) { "stored $stored" }
            }
        },
    )
