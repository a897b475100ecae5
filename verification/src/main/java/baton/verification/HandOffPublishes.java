package baton.verification;

import baton.interop.AsyncSemaphore;
import baton.interop.Permit;
import java.util.concurrent.CompletableFuture;
import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Expect;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.I_Result;

/** Plain data written before a permit is closed is visible to its next holder, granted through the queue or not. */
@JCStressTest
@Outcome(id = "1", expect = Expect.ACCEPTABLE, desc = "Granted, and sees it.")
@Outcome(expect = Expect.FORBIDDEN, desc = "Never granted, or granted before the other had closed.")
@State
public class HandOffPublishes {
    private final AsyncSemaphore semaphore = AsyncSemaphore.create(1);
    private final Permit held = semaphore.tryAcquire().orElseThrow();
    private int data;

    @Actor
    public void holder() {
        data = 1;
        held.close();
    }

    @Actor
    public void next(I_Result result) {
        CompletableFuture<Permit> granted = semaphore.acquire();
        result.r1 = granted.thenApply(permit -> data).join();
    }
}
