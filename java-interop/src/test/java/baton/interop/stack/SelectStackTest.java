package baton.interop.stack;

import static baton.interop.Futures.await;
import static org.junit.jupiter.api.Assertions.assertEquals;

import baton.interop.AsyncChannel;
import baton.interop.AsyncSemaphore;
import baton.interop.Permit;
import baton.interop.Select;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

/** Selects that grant each other. Runs with a small stack. */
class SelectStackTest {
    private static final int MANY = 20_000;

    /** Every function releases the permit, which is granted to the next select. */
    @Test
    void function_thatGrantsTheNext_keepsTheStackFlat() {
        AsyncSemaphore semaphore = AsyncSemaphore.create(1);
        AsyncChannel<String> idle = AsyncChannel.create(0);
        AtomicInteger runs = new AtomicInteger();
        Select<Integer> select = Select.<Integer>first()
                .onReceive(idle, String::length)
                .onAcquire(semaphore, permit -> {
                    int run = runs.incrementAndGet();
                    permit.close();
                    return run;
                });
        Permit holder = semaphore.acquire().join();
        CompletableFuture<Integer> last = null;
        for (int i = 0; i < MANY; i++) last = select.start();
        holder.close();
        assertEquals(MANY, await(last));
        await(semaphore.awaitIdle());
        assertEquals(0, idle.waiting() + semaphore.waiting());
    }

    /** Every function starts the next select, which need not wait. */
    @Test
    void function_thatStartsTheNext_keepsTheStackFlat() {
        CompletableFuture<Integer> end = new CompletableFuture<>();
        startOneMore(AsyncSemaphore.create(1), 1, end);
        assertEquals(MANY, await(end));
    }

    private static void startOneMore(AsyncSemaphore semaphore, int number, CompletableFuture<Integer> end) {
        Select.first()
                .onAcquire(semaphore, permit -> {
                    permit.close();
                    if (number == MANY) end.complete(number);
                    else startOneMore(semaphore, number + 1, end);
                    return number;
                })
                .start();
    }

    /** A winning select withdraws a request too large to be granted. This grants the next select, which does so too. */
    @Test
    void loser_thatGrantsTheNextWhenItIsWithdrawn_keepsTheStackFlat() {
        List<Permit> holders = new ArrayList<>();
        AsyncSemaphore before = AsyncSemaphore.create(2);
        AsyncSemaphore first = before;
        holders.add(before.acquire(2).join());
        CompletableFuture<Permit> last = null;
        for (int i = 0; i < MANY; i++) {
            AsyncSemaphore next = AsyncSemaphore.create(2);
            holders.add(next.acquire().join());
            last = Select.<Permit>first()
                    .onAcquire(next, 2, permit -> permit)
                    .onAcquire(before, permit -> permit)
                    .start();
            before = next;
        }
        holders.get(0).close();
        assertEquals(true, await(last).isHeld());
        assertEquals(1, first.availablePermits());
        assertEquals(0, before.waiting());
    }
}
