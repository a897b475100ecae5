package baton.verification;

import baton.sync.Semaphore;
import baton.sync.WaitOrder;
import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.Expect;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.ZZI_Result;

/** One permit goes to exactly one of two, and none is left. */
@JCStressTest
@Outcome(
        id = {"true, false, 0", "false, true, 0"},
        expect = Expect.ACCEPTABLE,
        desc = "One of them.")
@Outcome(expect = Expect.FORBIDDEN, desc = "Both, none, or a permit left.")
@State
public class OnePermitForTwo {
    private final Semaphore semaphore = new Semaphore(1, 0, WaitOrder.FIFO, null);

    @Actor
    public void one(ZZI_Result result) {
        result.r1 = semaphore.tryAcquire(1);
    }

    @Actor
    public void other(ZZI_Result result) {
        result.r2 = semaphore.tryAcquire(1);
    }

    @Arbiter
    public void left(ZZI_Result result) {
        result.r3 = semaphore.getAvailablePermits();
    }
}
