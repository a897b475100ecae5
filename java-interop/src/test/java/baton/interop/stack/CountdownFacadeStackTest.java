package baton.interop.stack;

import static baton.interop.Futures.await;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;

import baton.interop.AsyncLatch;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;

/** Many futures granted by one count-down, and nested count-downs. Runs with a small stack. */
class CountdownFacadeStackTest {
    private static final int MANY = 20_000;

    @Test
    void countDown_manyWait_grantsAllOfThem() {
        AsyncLatch latch = AsyncLatch.create(1);
        int[] runs = {0};
        for (int i = 0; i < MANY; i++) latch.await().thenRun(() -> runs[0]++);
        assertEquals(MANY, latch.waiting());
        latch.countDown();
        assertEquals(MANY, runs[0]);
        assertEquals(0, latch.waiting());
    }

    /** Each callback opens the latch that the next one awaits. */
    @Test
    void countDown_fromTheCallbackOfTheOneBefore_keepsTheStackFlat() {
        AsyncLatch first = AsyncLatch.create(1);
        AsyncLatch before = first;
        for (int i = 0; i < MANY; i++) {
            AsyncLatch next = AsyncLatch.create(1);
            before.await().thenRun(next::countDown);
            before = next;
        }
        CompletableFuture<Void> last = before.await();
        first.countDown();
        assertNull(await(last));
    }
}
