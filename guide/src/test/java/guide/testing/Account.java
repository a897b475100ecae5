package guide.testing;

import static java.util.concurrent.CompletableFuture.supplyAsync;

import baton.interop.AsyncMutex;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;

final class Account {
    private final AsyncMutex mutex = AsyncMutex.create();
    private final Executor executor;
    private int balance;

    Account(Executor executor) {
        this.executor = executor;
    }

    int balance() {
        return balance;
    }

    CompletableFuture<Void> deposit(int amount) {
        return mutex.withLock(() -> supplyAsync(() -> balance, executor)) // the lock ends with this stage
                .thenAcceptAsync(read -> balance = read + amount, executor);
    }

    CompletableFuture<Void> depositMended(int amount) {
        return mutex.withLock(
                () -> supplyAsync(() -> balance, executor).thenAcceptAsync(read -> balance = read + amount, executor));
    }
}
