package samples

import baton.monitoring.Deadlocks
import baton.sync.Latch
import baton.sync.Mutex
import baton.sync.withLock
import java.io.PrintStream
import kotlin.time.Duration.Companion.milliseconds
import kotlinx.coroutines.CoroutineName
import kotlinx.coroutines.CoroutineScope
import kotlinx.coroutines.Job
import kotlinx.coroutines.delay
import kotlinx.coroutines.joinAll
import kotlinx.coroutines.launch
import kotlinx.coroutines.runBlocking
import samples.support.Cli

/**
 * Two transfers in opposite order, each of which holds the account that the other one waits for. The report names both;
 * then owners and an order put it right. `samples.java.Deadlock` is the same in Java.
 */
object Deadlock {
    private class Account(val name: String) {
        val mutex = Mutex(name = name)
        var balance = 100
    }

    private val alice = Account("alice")
    private val bob = Account("bob")

    /** Locks the payer, waits until both payers are locked, and locks the receiver. */
    private suspend fun transfer(from: Account, to: Account, amount: Int, bothHold: Latch) {
        from.mutex.withLock {
            bothHold.countDown()
            bothHold.await()
            to.mutex.withLock { move(from, to, amount) }
        }
    }

    /** Locks in the order of the names, whichever account pays, and with an owner, who cannot lock an account twice. */
    private suspend fun transferInOrder(owner: String, from: Account, to: Account, amount: Int) {
        val (first, second) = if (from.name <= to.name) from to to else to to from
        first.mutex.withLock(owner) {
            delay(50.milliseconds)
            second.mutex.withLock(owner) { move(from, to, amount) }
        }
    }

    private fun move(from: Account, to: Account, amount: Int) {
        from.balance -= amount
        to.balance += amount
    }

    private fun CoroutineScope.named(name: String, transfer: suspend () -> Unit): Job =
        launch(CoroutineName(name)) { transfer() }

    /** Returns whether the report named both transfers. */
    private fun inOppositeOrder(out: PrintStream): Boolean = runBlocking {
        out.println("Two transfers in opposite order")
        val bothHold = Latch(2)
        val rent = named("rent") { transfer(alice, bob, 30, bothHold) }
        val refund = named("refund") { transfer(bob, alice, 10, bothHold) }
        var found = Deadlocks.find()
        // The first call that sees a cycle remembers it; one that comes a second later reports it.
        while (found.isEmpty() && rent.isActive) {
            delay(100.milliseconds)
            found = Deadlocks.find()
        }
        refund.cancel()
        joinAll(rent, refund)
        found.forEach { out.println(it.toString().prependIndent("  ")) }
        out.println("  the refund is cancelled, and the rent is paid: ${balances()}")
        out.println()
        found.flatMap { it.cycle }.map { it.waiter }.toSet() == setOf("coroutine 'rent'", "coroutine 'refund'")
    }

    private fun withOwnersAndAnOrder(out: PrintStream): Boolean = runBlocking {
        out.println("With owners, in the order of the names")
        val transfers =
            (1..10).flatMap {
                listOf(
                    named("rent") { transferInOrder("rent $it", alice, bob, 30) },
                    named("refund") { transferInOrder("refund $it", bob, alice, 30) },
                )
            }
        transfers.joinAll()
        out.println("  ten of each are done: ${balances()}")
        try {
            transferInOrder("gift", alice, alice, 5)
        } catch (misuse: IllegalStateException) {
            out.println("  from alice to alice: IllegalStateException: ${misuse.message}")
        }
        val left = Deadlocks.find().size
        out.println("  deadlocks: $left")
        left == 0 && alice.balance == 70 && bob.balance == 130
    }

    private fun balances() = "alice=${alice.balance}, bob=${bob.balance}"

    /** Returns the exit code: 0 if the deadlock was found, and none was left in the end. */
    fun run(args: Array<String>, out: PrintStream, err: PrintStream): Int =
        Cli.runWithoutOptions(args, err) {
            if (!Deadlocks.isEnabled) err.println("start it with -Dbaton.deadlocks=true, or by its main")
            Deadlocks.isEnabled && inOppositeOrder(out) && withOwnersAndAnOrder(out)
        }

    /** The property is read when the first lock is created. */
    @JvmStatic
    fun main(args: Array<String>) {
        System.setProperty("baton.deadlocks", "true")
        Cli.exit(run(args, System.out, System.err))
    }
}
