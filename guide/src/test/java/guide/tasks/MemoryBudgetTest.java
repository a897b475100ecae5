package guide.tasks;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import baton.PermitTimeoutException;
import baton.interop.AsyncSemaphore;
import baton.interop.Permit;
import java.io.IOException;
import java.time.Duration;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** A budget of 64 MiB: a job takes what it needs, waits 100 ms at most, and gives it back also when it fails. */
@Tag("any-jdk")
class MemoryBudgetTest {
    private static final class MemoryBudget {
        private final AsyncSemaphore mebibytes = AsyncSemaphore.create(64, "memory");

        <T> T run(int size, Callable<T> job) throws Exception {
            Permit held = mebibytes.blocking().acquire(size, Duration.ofMillis(100));
            try {
                return job.call();
            } finally {
                held.close();
            }
        }

        CompletableFuture<Permit> take(int size) {
            return mebibytes.acquire(size);
        }

        String state() {
            return mebibytes.availablePermits() + " MiB free, " + mebibytes.waiting() + " waiting";
        }
    }

    private final MemoryBudget budget = new MemoryBudget();

    @Test
    void job_thatDoesNotFitInTime_isRefusedAndTakesNothing() throws Exception {
        String state = budget.run(60, () -> {
            assertThrows(PermitTimeoutException.class, () -> budget.run(5, () -> "too much"));
            assertEquals("fits", budget.run(4, () -> "fits"));
            return budget.state();
        });
        assertEquals("4 MiB free, 0 waiting", state);
    }

    @Test
    void job_thatFails_givesItsMemoryBack() {
        assertThrows(
                IOException.class,
                () -> budget.run(64, () -> {
                    throw new IOException("no space");
                }));
        assertEquals("64 MiB free, 0 waiting", budget.state());
    }

    @Test
    void jobOf65_isRefusedAtOnce() {
        assertThrows(IllegalArgumentException.class, () -> budget.run(65, () -> "never"));
    }

    @Test
    void state_countsTheJobsThatWait() {
        Permit all = budget.take(64).join();
        CompletableFuture<Permit> next = budget.take(1);
        assertFalse(next.isDone());
        assertEquals("0 MiB free, 1 waiting", budget.state());
        all.close();
        assertTrue(next.isDone());
        next.join().close();
    }
}
