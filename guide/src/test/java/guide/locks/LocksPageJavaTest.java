package guide.locks;

import static java.util.concurrent.TimeUnit.MILLISECONDS;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import baton.PermitTimeoutException;
import baton.interop.AsyncBarrier;
import baton.interop.AsyncCondition;
import baton.interop.AsyncLatch;
import baton.interop.AsyncMutex;
import baton.interop.AsyncMutexes;
import baton.interop.AsyncReadWriteLock;
import baton.interop.AsyncWaitGroup;
import baton.interop.BlockingMutex;
import baton.interop.CancellableFuture;
import baton.interop.Permit;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;

/** The Java code of docs/locks.md. */
class LocksPageJavaTest {
    private static final class Bank {
        private final AtomicLong balance = new AtomicLong();

        CompletableFuture<Long> readAsync() {
            return CompletableFuture.supplyAsync(balance::get);
        }

        CompletableFuture<Void> writeAsync(long amount) {
            return CompletableFuture.runAsync(() -> balance.set(amount));
        }
    }

    private final Bank bank = new Bank();

    private final AsyncMutex mutex = AsyncMutex.create("account 42");

    CompletableFuture<Void> deposit(long amount) {
        return mutex.withLock(() -> bank.readAsync().thenCompose(before -> bank.writeAsync(before + amount)));
    }

    void depositBlocking(long amount) throws Exception {
        mutex.blocking()
                .call(() -> bank.writeAsync(bank.readAsync().join() + amount).join());
    }

    @Test
    void mutex_ofManyDeposits_losesNone() throws Exception {
        List<CompletableFuture<Void>> deposits = List.of(deposit(5), deposit(5), deposit(5));
        depositBlocking(5);
        deposits.forEach(CompletableFuture::join);
        assertEquals(20, bank.balance.get());
    }

    long balanceInTime() throws Exception {
        BlockingMutex lock = mutex.blocking();
        return lock.call(Duration.ofMillis(100), () -> bank.readAsync().join()); // or PermitTimeoutException
    }

    boolean depositIfFree(long amount) throws InterruptedException {
        BlockingMutex lock = mutex.blocking();
        if (!lock.tryLock(100, MILLISECONDS)) return false;
        try {
            bank.writeAsync(bank.readAsync().join() + amount).join();
            return true;
        } finally {
            lock.unlock();
        }
    }

    @Test
    void timeLimit_ofAHeldMutex_endsTheWait() throws Exception {
        assertTrue(depositIfFree(5));
        assertEquals(5, balanceInTime());
        try (Permit held = mutex.lock().join()) {
            assertFalse(depositIfFree(5));
            assertThrows(PermitTimeoutException.class, this::balanceInTime);
            assertTrue(held.isHeld());
        }
        assertEquals(5, balanceInTime());
    }

    private String value = "old";

    @Test
    void readers_readTogether_andAWriterAlone() {
        AsyncReadWriteLock lock = AsyncReadWriteLock.create("prices");
        CompletableFuture<Void> written = lock.withWrite(() -> CompletableFuture.runAsync(() -> value = "new"));
        CompletableFuture<String> read = lock.withRead(() -> CompletableFuture.completedFuture(value));
        written.join();
        assertEquals("new", read.join());
        AsyncReadWriteLock owned = lock.ownedBy("report 3");
        CompletableFuture<Void> inTime =
                owned.withWrite(() -> CompletableFuture.runAsync(() -> value = "newer"), Duration.ofMillis(500));
        inTime.join();
        assertEquals("newer", value);
    }

    private final ArrayDeque<String> items = new ArrayDeque<>();

    private final AsyncCondition notEmpty = mutex.newCondition();

    /** A permit to one that is held with an element in the queue. */
    private CompletableFuture<Permit> whenNotEmpty(Permit held) {
        if (!items.isEmpty()) return CompletableFuture.completedFuture(held);
        return CancellableFuture.of(notEmpty.await(held)).thenCompose(this::whenNotEmpty);
    }

    @Test
    void condition_wakesTheTaker() {
        CompletableFuture<String> taken = mutex.lock()
                .thenCompose(this::whenNotEmpty)
                .thenApply(held -> {
                    try (held) {
                        return items.remove();
                    }
                });
        mutex.lock()
                .thenAccept(held -> {
                    items.add("a");
                    notEmpty.signal();
                    held.close();
                })
                .join();
        assertEquals("a", taken.join());
    }

    @Test
    void barrierLatchAndGroup_waitForTheOthers() {
        AsyncBarrier barrier = AsyncBarrier.create(2);
        CompletableFuture<Integer> first = barrier.arrive();
        CompletableFuture<Integer> last = barrier.arrive();
        assertEquals(List.of(1, 0), List.of(first.join(), last.join()));

        AsyncLatch ready = AsyncLatch.create(1);
        CompletableFuture<Void> opened = ready.await();
        ready.countDown();
        opened.join();

        AsyncWaitGroup pending = AsyncWaitGroup.create();
        pending.add();
        CompletableFuture.runAsync(() -> {}).whenComplete((done, e) -> pending.done());
        pending.await().join();
        assertTrue(opened.isDone());
    }

    private final AsyncMutexes<String> locks = AsyncMutexes.create();

    @Test
    void keys_lockedTogether_doNotDeadlock() {
        CompletableFuture<Void> there = locks.withLocks(List.of("alice", "bob"), () -> deposit(1));
        CompletableFuture<Void> back = locks.withLocks(List.of("bob", "alice"), () -> deposit(1));
        CompletableFuture.allOf(there, back).join();
        assertEquals(2, bank.balance.get());
    }
}
