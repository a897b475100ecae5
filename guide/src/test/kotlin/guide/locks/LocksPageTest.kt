package guide.locks

import baton.sync.Barrier
import baton.sync.BarrierBrokenException
import baton.sync.BarrierCancellation
import baton.sync.Latch
import baton.sync.Mutex
import baton.sync.Mutexes
import baton.sync.ReadWriteLock
import baton.sync.WaitGroup
import baton.sync.withLock
import baton.sync.withRead
import baton.sync.withWrite
import java.util.concurrent.CompletableFuture
import kotlin.time.Duration.Companion.milliseconds
import kotlin.time.Duration.Companion.seconds
import kotlinx.coroutines.delay
import kotlinx.coroutines.launch
import kotlinx.coroutines.test.currentTime
import kotlinx.coroutines.test.runCurrent
import kotlinx.coroutines.test.runTest
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertFalse
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.api.Test
import org.junit.jupiter.api.assertThrows

/** The Kotlin code of docs/locks.md. */
class LocksPageTest {
    private class Bank {
        var balance = 0L

        suspend fun read(): Long = balance.also { delay(10.milliseconds) }

        suspend fun write(amount: Long) {
            delay(10.milliseconds)
            balance = amount
        }
    }

    private val bank = Bank()

    private val mutex = Mutex(name = "account 42")

    suspend fun deposit(amount: Long) {
        mutex.withLock { bank.write(bank.read() + amount) }
    }

    @Test
    fun mutex_ofManyDeposits_losesNone() = runTest {
        val deposits = List(10) { launch { deposit(5) } }
        deposits.forEach { it.join() }
        assertEquals(50, bank.balance)
    }

    @Test
    fun mutex_withATimeoutAndAnOwner() = runTest {
        val job = "job 7" // kept in a val: owners are compared by identity

        mutex.withLock(500.milliseconds, owner = job) {
            val again = assertThrows<IllegalStateException> { mutex.lock(owner = job) }
            assertEquals("Mutex 'account 42' is already locked by job 7", again.message)
        }
        if (mutex.tryLock()) mutex.unlock() // never waits
        assertFalse(mutex.isLocked)
    }

    private val prices = HashMap<String, Int>()

    private suspend fun load(item: String): Int {
        delay(1.seconds)
        return item.length
    }

    private val lock = ReadWriteLock(name = "prices")

    suspend fun price(item: String): Int? = lock.withRead { prices[item] }

    suspend fun reload(item: String) {
        lock.withWrite { prices[item] = load(item) }
    }

    suspend fun priceOrLoad(item: String): Int {
        lock.lockUpgradable() // beside readers, but one at a time
        var isWriting = false
        try {
            prices[item]?.let {
                return it
            }
            lock.upgrade() // no other writer comes in between
            isWriting = true
            return load(item).also { prices[item] = it }
        } finally {
            if (isWriting) lock.unlockWrite() else lock.unlockUpgradable()
        }
    }

    @Test
    fun upgrade_loadsWhatIsMissing() = runTest {
        assertEquals(listOf(3, 3), listOf(priceOrLoad("tea"), priceOrLoad("tea")))
        assertEquals("ReadWriteLock 'prices' (free, waiting = 0)", lock.toString())
    }

    @Test
    fun writer_withATimeoutAndAnOwner() = runTest {
        val report = "report 3" // kept in a val, as above

        lock.withWrite(500.milliseconds, owner = report) { prices["tea"] = 3 } // or PermitTimeoutException
        val seen = lock.withRead(owner = report) { prices["tea"] }
        assertEquals(3, seen)
    }

    @Test
    fun readers_readTogether_andAWriterAlone() = runTest {
        reload("tea")
        val readers = List(3) { launch { lock.withRead { delay(1.seconds) } } }
        delay(1.milliseconds)
        reload("coffee")
        readers.forEach { it.join() }
        assertEquals(6, price("coffee"))
        assertEquals(3_000, currentTime)
    }

    private val items = ArrayDeque<String>()

    private val notEmpty = mutex.newCondition()

    suspend fun take(): String =
        mutex.withLock {
            while (items.isEmpty()) notEmpty.await()
            items.removeFirst()
        }

    suspend fun put(item: String) {
        mutex.withLock {
            items.addLast(item)
            notEmpty.signal()
        }
    }

    @Test
    fun condition_wakesTheTaker() = runTest {
        launch {
            delay(1.seconds)
            put("a")
        }
        assertEquals("a", take())
    }

    @Test
    fun barrier_releasesAllPartiesTogether() = runTest {
        val phases = ArrayList<Long>()
        val barrier = Barrier(parties = 3) { phases += currentTime } // the action, by the last party
        val parties =
            List(3) { part ->
                launch {
                    delay(part.seconds) // its part of the phase
                    barrier.arrive()
                }
            }
        parties.forEach { it.join() }
        assertEquals(listOf(2_000L), phases)
    }

    @Test
    fun barrier_thatBreaks_tellsTheOthers() = runTest {
        val barrier = Barrier(parties = 3, onCancel = BarrierCancellation.BREAK)
        val other = launch { barrier.arrive() }
        launch { assertThrows<BarrierBrokenException> { barrier.arrive() } }.also { runCurrent() }
        other.cancel()
        runCurrent()
        assertTrue(barrier.isBroken)
    }

    @Test
    fun latch_opensOnce() = runTest {
        val ready = Latch(count = 2)
        repeat(2) {
            launch {
                delay(1.seconds)
                ready.countDown()
            }
        }
        assertTrue(ready.await(5.seconds))
    }

    @Test
    fun waitGroup_countsPendingWork() = runTest {
        val pending = WaitGroup()
        val response = CompletableFuture<String>()
        pending.add()
        response.whenComplete { _, _ -> pending.done() }
        launch { response.complete("200") }
        pending.await()
        assertEquals(0, pending.count)
    }

    private val locks = Mutexes<String>(name = "accounts")
    private val balances = HashMap(mapOf("alice" to 100, "bob" to 100))

    suspend fun transfer(from: String, to: String, amount: Int) {
        locks.withLocks(from, to) { // the same order for all callers: no deadlock
            balances[from] = balances.getValue(from) - amount
            balances[to] = balances.getValue(to) + amount
        }
    }

    @Test
    fun keys_lockedTogether_doNotDeadlock() = runTest {
        val transfers =
            List(10) { launch { if (it % 2 == 0) transfer("alice", "bob", 30) else transfer("bob", "alice", 30) } }
        transfers.forEach { it.join() }
        assertEquals(mapOf("alice" to 100, "bob" to 100), balances.toMap())
        assertEquals(0, locks.size)
    }
}
