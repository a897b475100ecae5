package samples.java;

import baton.interop.AsyncLatch;
import baton.interop.AsyncMutex;
import baton.interop.CancellableFuture;
import baton.monitoring.Deadlocks;
import java.io.PrintStream;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import samples.support.Cli;

/**
 * Two transfers in opposite order, each of which holds the account that the other one waits for. The report names both;
 * then an order puts it right. Futures are known by their owners. {@code samples.Deadlock} is the same in Kotlin.
 */
public final class Deadlock {
    private static final class Account {
        private final String name;
        private final AsyncMutex mutex;
        private int balance = 100;

        Account(String name) {
            this.name = name;
            this.mutex = AsyncMutex.create(name);
        }

        <T> CompletableFuture<T> locked(String owner, Supplier<CompletionStage<T>> action) {
            return mutex.ownedBy(owner).withLock(action);
        }
    }

    private final Account alice = new Account("alice");
    private final Account bob = new Account("bob");

    private Deadlock() {}

    /**
     * Locks the payer, waits until both payers are locked, and locks the receiver. Cancelling the future ends whichever
     * wait it is in.
     */
    private static CompletableFuture<Void> transfer(
            String owner, Account from, Account to, int amount, AsyncLatch bothHold) {
        Supplier<CompletableFuture<Void>> meet = () -> {
            bothHold.countDown();
            return bothHold.await();
        };
        return locked(owner, from, to, meet, () -> move(from, to, amount));
    }

    /** Locks in the order of the names, whichever account pays. */
    private static CompletableFuture<Void> transferInOrder(String owner, Account from, Account to, int amount) {
        boolean isInOrder = from.name.compareTo(to.name) <= 0;
        return locked(
                owner, isInOrder ? from : to, isInOrder ? to : from, () -> pause(50), () -> move(from, to, amount));
    }

    private static CompletableFuture<Void> locked(
            String owner, Account first, Account second, Supplier<CompletableFuture<Void>> between, Runnable action) {
        return first.locked(
                owner,
                () -> CancellableFuture.of(between.get())
                        .thenCompose(done -> second.locked(owner, () -> {
                            action.run();
                            return CompletableFuture.completedFuture(null);
                        })));
    }

    private static void move(Account from, Account to, int amount) {
        from.balance -= amount;
        to.balance += amount;
    }

    private static CompletableFuture<Void> pause(int millis) {
        Executor later = CompletableFuture.delayedExecutor(millis, TimeUnit.MILLISECONDS);
        return CompletableFuture.runAsync(() -> {}, later);
    }

    /** Returns whether the report named both transfers. */
    private boolean inOppositeOrder(PrintStream out) {
        out.println("Two transfers in opposite order");
        AsyncLatch bothHold = AsyncLatch.create(2);
        CompletableFuture<Void> rent = transfer("rent", alice, bob, 30, bothHold);
        CompletableFuture<Void> refund = transfer("refund", bob, alice, 10, bothHold);
        var found = Deadlocks.find();
        // The first call that sees a cycle remembers it; one that comes a second later reports it.
        while (found.isEmpty() && !rent.isDone()) {
            pause(100).join();
            found = Deadlocks.find();
        }
        refund.cancel(false);
        rent.join();
        found.forEach(deadlock -> out.println(deadlock.toString().indent(2).stripTrailing()));
        out.println("  the refund is cancelled, and the rent is paid: " + balances());
        out.println();
        return found.stream()
                .flatMap(deadlock -> deadlock.getCycle().stream())
                .map(edge -> edge.getWaiter())
                .collect(Collectors.toSet())
                .equals(Set.of("owner rent", "owner refund"));
    }

    private boolean withOwnersAndAnOrder(PrintStream out) {
        out.println("With owners, in the order of the names");
        List<CompletableFuture<Void>> transfers = IntStream.rangeClosed(1, 10)
                .boxed()
                .flatMap(i -> Stream.of(
                        transferInOrder("rent " + i, alice, bob, 30), transferInOrder("refund " + i, bob, alice, 30)))
                .toList();
        transfers.forEach(CompletableFuture::join);
        out.println("  ten of each are done: " + balances());
        try {
            transferInOrder("gift", alice, alice, 5).join();
        } catch (CompletionException misuse) {
            Throwable cause = misuse.getCause();
            out.println("  from alice to alice: " + cause.getClass().getSimpleName() + ": " + cause.getMessage());
        }
        int left = Deadlocks.find().size();
        out.println("  deadlocks: " + left);
        return left == 0 && alice.balance == 70 && bob.balance == 130;
    }

    private String balances() {
        return "alice=" + alice.balance + ", bob=" + bob.balance;
    }

    /** Returns the exit code: 0 if the deadlock was found, and none was left in the end. */
    public static int run(String[] args, PrintStream out, PrintStream err) {
        return Cli.runWithoutOptions(args, err, () -> {
            if (!Deadlocks.isEnabled()) {
                err.println("start it with -Dbaton.deadlocks=true, or by its main");
                return false;
            }
            Deadlock sample = new Deadlock();
            return sample.inOppositeOrder(out) && sample.withOwnersAndAnOrder(out);
        });
    }

    /** The property is read when the first lock is created. */
    public static void main(String[] args) {
        System.setProperty("baton.deadlocks", "true");
        Cli.exit(run(args, System.out, System.err));
    }
}
