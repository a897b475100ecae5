package baton.verification;

import baton.interop.AsyncSemaphore;
import baton.interop.Permit;
import java.util.concurrent.CompletableFuture;
import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.Expect;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.ZI_Result;

/** A grant that meets a cancellation: either the permit is the future's, or it is free. */
@JCStressTest
@Outcome(id = "true, 1", expect = Expect.ACCEPTABLE, desc = "Cancelled, and the permit is free.")
@Outcome(id = "false, 0", expect = Expect.ACCEPTABLE, desc = "Too late to cancel, and the permit is held.")
@Outcome(expect = Expect.FORBIDDEN, desc = "Lost, or given twice.")
@State
public class CancelMeetsGrant {
    private final AsyncSemaphore semaphore = AsyncSemaphore.create(1);
    private final Permit held = semaphore.tryAcquire().orElseThrow();
    private final CompletableFuture<Permit> waiter = semaphore.acquire();

    @Actor
    public void holder() {
        held.close();
    }

    @Actor
    public void canceller(ZI_Result result) {
        result.r1 = waiter.cancel(false);
    }

    @Arbiter
    public void left(ZI_Result result) {
        result.r2 = semaphore.availablePermits();
    }
}
