package baton.interop.stress;

import static java.util.concurrent.TimeUnit.MILLISECONDS;
import static org.junit.jupiter.api.Assertions.assertEquals;

import baton.interop.AsyncSemaphore;
import baton.interop.CancellableFuture;
import baton.interop.Permit;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

@Tag("any-jdk")
class CancellableSourceStressTest {
    @Test
    void timeout_andAHolderThatGivesBackAtThatMoment_losesNoPermit() {
        for (int i = 0; i < 1_000; i++) {
            AsyncSemaphore semaphore = AsyncSemaphore.create(1);
            Permit held = semaphore.acquire().join();
            CancellableFuture<Permit> request =
                    CancellableFuture.of(semaphore.acquire()).orTimeout(1, MILLISECONDS);
            CompletableFuture<Permit> got = request.toCompletableFuture();
            if (i % 2 == 0) while (!request.isDone()) Thread.onSpinWait();
            else LockSupport.parkNanos(900_000 + ThreadLocalRandom.current().nextInt(400_000));
            held.close();
            Permit permit = got.handle((value, e) -> value).join();
            if (permit != null) permit.close();
            assertEquals(1, semaphore.availablePermits(), "in round " + i);
        }
    }
}
