package samples

import baton.sync.Mutex
import baton.sync.withLock
import java.io.PrintStream
import kotlinx.coroutines.asCoroutineDispatcher
import kotlinx.coroutines.async
import kotlinx.coroutines.awaitAll
import kotlinx.coroutines.future.await
import kotlinx.coroutines.runBlocking
import samples.support.Bank
import samples.support.Cli

/**
 * Two transfers at the same time from an account with money for one. Without a lock the result is wrong, although both
 * run on one thread; with a mutex it is right. `samples.java.TransferMoney` is the same in Java.
 */
object TransferMoney {
    private const val AMOUNT = 100L

    /** Checks, then acts. While it waits for the bank, other transfers run and may have read the same balance. */
    private suspend fun transfer(bank: Bank, from: String, to: String): Boolean {
        val balance = bank.balance(from).await()
        if (balance < AMOUNT) return false
        bank.setBalance(from, balance - AMOUNT).await()
        bank.setBalance(to, bank.balance(to).await() + AMOUNT).await()
        return true
    }

    private fun transferTwice(out: PrintStream, title: String, transfer: suspend (Bank, String, String) -> Boolean) =
        Bank().use { bank ->
            runBlocking(bank.loop().asCoroutineDispatcher()) {
                val first = async { transfer(bank, "transfer-1", "bob") }
                val second = async { transfer(bank, "transfer-2", "carol") }
                bank.audit(out, title, AMOUNT, awaitAll(first, second))
            }
        }

    private fun withoutLock(out: PrintStream) =
        transferTwice(out, "Without a lock") { bank, _, to -> transfer(bank, "alice", to) }

    private fun withMutex(out: PrintStream): Boolean {
        val accounts = Mutex(name = "accounts")
        return transferTwice(out, "With a mutex") { bank, owner, to ->
            accounts.withLock(owner) { transfer(bank, "alice", to) }
        }
    }

    /** With an owner, a transfer that locks again gets an exception; without one, it would wait for itself for ever. */
    private fun lockTwice(out: PrintStream) = runBlocking {
        val accounts = Mutex(name = "accounts")
        out.println("The same owner locks twice")
        accounts.withLock(owner = "transfer-1") {
            try {
                accounts.withLock(owner = "transfer-1") { out.println("  not reached") }
            } catch (misuse: IllegalStateException) {
                out.println("  IllegalStateException: ${misuse.message}")
            }
        }
    }

    /** Returns the exit code: 0 if the race occurred without the lock and did not occur with it. */
    fun run(args: Array<String>, out: PrintStream, err: PrintStream): Int =
        Cli.runWithoutOptions(args, err) {
            val lost = !withoutLock(out)
            val kept = withMutex(out)
            lockTwice(out)
            lost && kept
        }

    @JvmStatic fun main(args: Array<String>) = Cli.exit(run(args, System.out, System.err))
}
