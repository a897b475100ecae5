package baton.test.corpus

import baton.parallel.forEachLimit
import baton.sync.Mutex
import baton.sync.ReadWriteLock
import baton.sync.Semaphore
import baton.sync.withLock
import baton.sync.withPermit
import baton.sync.withRead
import baton.sync.withWrite
import kotlinx.coroutines.CoroutineName
import kotlinx.coroutines.flow.MutableStateFlow
import kotlinx.coroutines.flow.update
import kotlinx.coroutines.launch

internal val sharedStateBugs =
    listOf(
        // kotlinx.coroutines #2392, #2720: reading and writing the value of a state flow is not one step.
        Bug("an update is lost across a suspension", failure = "paid 70") { isRight ->
            val paid = MutableStateFlow(0)

            suspend fun pay(amount: Int) {
                val before = paid.value
                call()
                if (isRight) paid.update { it + amount } else paid.value = before + amount
            }
            launch(CoroutineName("a")) { pay(30) }
            launch(CoroutineName("b")) { pay(70) }
            afterwards { check(paid.value == 100) { "paid ${paid.value}" } }
        },
        Bug("check then act, behind a semaphore that should be a mutex", failure = "balance -40") { isRight ->
            val gate = Semaphore(if (isRight) 1 else 2)
            var balance = 100

            suspend fun withdraw(amount: Int) =
                gate.withPermit {
                    if (balance >= amount) {
                        call()
                        balance -= amount
                    }
                }
            launch(CoroutineName("a")) { withdraw(70) }
            launch(CoroutineName("b")) {
                call(2)
                withdraw(70)
            }
            afterwards { check(balance >= 0) { "balance $balance" } }
        },
        Bug("each access of a map is locked, but not the two together", failure = "sold 2 times") { isRight ->
            val mutex = Mutex()
            val seats = HashMap<String, String>()
            var sold = 0

            suspend fun buy(who: String): Boolean {
                if (isRight) return mutex.withLock { seats.putIfAbsent("1A", who) == null }
                if (mutex.withLock { "1A" in seats }) return false
                mutex.withLock { seats["1A"] = who }
                return true
            }
            for (who in listOf("a", "b")) launch(CoroutineName(who)) { if (buy(who)) sold++ }
            afterwards { check(sold == 1) { "sold $sold times" } }
        },
        Bug("a read lock is exchanged for the write lock, and nothing is checked again", failure = "loaded 2") { isRight
            ->
            val lock = ReadWriteLock()
            var settings: String? = null
            var loads = 0

            suspend fun settings(): String =
                lock.withRead { settings }
                    ?: lock.withWrite { settings?.takeIf { isRight } ?: "loaded ${++loads}".also { settings = it } }
            for (who in listOf("a", "b")) launch(CoroutineName(who)) { settings() }
            afterwards { check(settings == "loaded 1") { "$settings" } }
        },
        Bug("a progress bar goes back", failure = " of 4") { isRight ->
            var done = 0
            var shown = 0
            (1..4).forEachLimit(2) {
                call()
                val progress = ++done
                call()
                shown = if (isRight) maxOf(shown, progress) else progress
            }
            check(shown == 4) { "shows $shown of 4" }
        },
    )
