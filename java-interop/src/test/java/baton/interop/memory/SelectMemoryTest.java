package baton.interop.memory;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import baton.interop.AsyncChannel;
import baton.interop.AsyncSemaphore;
import baton.interop.Permit;
import baton.interop.Select;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;

/** Clauses that lose leave nothing behind at a primitive that no other request ever uses. */
class SelectMemoryTest {
    private static final int MANY = 200_000;

    private static long usedHeap() {
        Runtime runtime = Runtime.getRuntime();
        long least = Long.MAX_VALUE;
        for (int i = 0; i < 4; i++) {
            System.gc();
            least = Math.min(least, runtime.totalMemory() - runtime.freeMemory());
        }
        return least;
    }

    @Test
    void manySelects_withAClauseOnWhatIsIdle_leaveNothingThere() {
        AsyncChannel<String> idle = AsyncChannel.create(0);
        CompletableFuture<String> never = new CompletableFuture<>();
        AsyncSemaphore busy = AsyncSemaphore.create(1);
        Permit holder = busy.acquire().join();
        AsyncChannel<String> ready = AsyncChannel.create(1);
        Select<String> select = Select.<String>first()
                .onReceive(idle, x -> x)
                .onSend(idle, "x", () -> "sent")
                .onAcquire(busy, permit -> "permit")
                .onFuture(never, x -> x)
                .onReceive(ready, x -> x)
                .onTimeout(Duration.ofDays(1), () -> "late");
        run(select, ready, 10_000);
        long before = usedHeap();
        run(select, ready, MANY);
        long left = usedHeap() - before;
        assertEquals(0, idle.waiting() + busy.waiting() + never.getNumberOfDependents());
        assertTrue(left <= 256 * 1024, left + " bytes are left");
        holder.close();
    }

    /** One third of the selects wins at once, one third wins later, and one third is cancelled. */
    private static void run(Select<String> select, AsyncChannel<String> ready, int times) {
        for (int i = 0; i < times; i++) {
            if (i % 3 == 0) ready.trySend("x");
            CompletableFuture<String> winner = select.start();
            if (i % 3 == 1) ready.trySend("x");
            if (i % 3 == 2) winner.cancel(false);
            else assertEquals("x", winner.join());
        }
    }
}
