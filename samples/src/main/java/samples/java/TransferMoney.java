package samples.java;

import baton.interop.AsyncMutex;
import java.io.PrintStream;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import samples.support.Bank;
import samples.support.Cli;

/**
 * Two transfers at the same time from an account with money for one. Without a lock the result is wrong, although both
 * run on one thread; with a mutex it is right. {@code samples.TransferMoney} is the same in Kotlin.
 */
public final class TransferMoney {
    private static final long AMOUNT = 100;

    private TransferMoney() {}

    /** A transfer within a bank; the owner identifies it to the mutex. */
    private interface Transfer {
        CompletableFuture<Boolean> start(Bank bank, String owner, String to);
    }

    /** Checks, then acts. While it waits for the bank, other transfers run and may have read the same balance. */
    private static CompletableFuture<Boolean> transfer(Bank bank, String from, String to) {
        return bank.balance(from).thenCompose(balance -> {
            if (balance < AMOUNT) return CompletableFuture.completedFuture(false);
            return bank.setBalance(from, balance - AMOUNT)
                    .thenCompose(done -> bank.balance(to))
                    .thenCompose(receiver -> bank.setBalance(to, receiver + AMOUNT))
                    .thenApply(done -> true);
        });
    }

    private static boolean transferTwice(PrintStream out, String title, Transfer transfer) {
        try (Bank bank = new Bank()) {
            return CompletableFuture.completedFuture(null)
                    .thenComposeAsync(
                            start -> {
                                var first = transfer.start(bank, "transfer-1", "bob");
                                var second = transfer.start(bank, "transfer-2", "carol");
                                return first.thenCombine(second, List::of);
                            },
                            bank.loop())
                    .thenApply(accepted -> bank.audit(out, title, AMOUNT, accepted))
                    .join();
        }
    }

    private static boolean withoutLock(PrintStream out) {
        return transferTwice(out, "Without a lock", (bank, owner, to) -> transfer(bank, "alice", to));
    }

    private static boolean withMutex(PrintStream out) {
        AsyncMutex accounts = AsyncMutex.create("accounts");
        return transferTwice(
                out,
                "With a mutex",
                (bank, owner, to) -> accounts.ownedBy(owner).withLock(() -> transfer(bank, "alice", to)));
    }

    /** With an owner, a transfer that locks again gets an exception; without one, it would wait for itself for ever. */
    private static void lockTwice(PrintStream out) {
        AsyncMutex mine = AsyncMutex.create("accounts").ownedBy("transfer-1");
        out.println("The same owner locks twice");
        mine.withLock(() -> mine.withLock(() -> {
                    out.println("  not reached");
                    return CompletableFuture.completedFuture(null);
                }))
                .exceptionally(misuse -> {
                    Throwable cause = misuse instanceof CompletionException ? misuse.getCause() : misuse;
                    out.println("  " + cause.getClass().getSimpleName() + ": " + cause.getMessage());
                    return null;
                })
                .join();
    }

    /** Returns the exit code: 0 if the race occurred without the lock and did not occur with it. */
    public static int run(String[] args, PrintStream out, PrintStream err) {
        return Cli.runWithoutOptions(args, err, () -> {
            boolean lost = !withoutLock(out);
            boolean kept = withMutex(out);
            lockTwice(out);
            return lost && kept;
        });
    }

    public static void main(String[] args) {
        Cli.exit(run(args, System.out, System.err));
    }
}
