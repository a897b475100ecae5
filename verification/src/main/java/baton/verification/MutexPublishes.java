package baton.verification;

import baton.sync.Mutex;
import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Expect;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.II_Result;

/** Plain data written under the lock is seen, whole, by the next holder. */
@JCStressTest
@Outcome(id = "-1, -1", expect = Expect.ACCEPTABLE, desc = "The reader did not get the lock.")
@Outcome(id = "0, 0", expect = Expect.ACCEPTABLE, desc = "The reader came first.")
@Outcome(id = "1, 1", expect = Expect.ACCEPTABLE, desc = "The reader came second and sees all.")
@Outcome(expect = Expect.FORBIDDEN, desc = "Half of a critical section.")
@State
public class MutexPublishes {
    private final Mutex mutex = new Mutex(false, null);
    private int first;
    private int second;

    @Actor
    public void writer() {
        if (!mutex.tryLock(null)) return;
        first = 1;
        second = 1;
        mutex.unlock(null);
    }

    @Actor
    public void reader(II_Result result) {
        result.r1 = -1;
        result.r2 = -1;
        if (!mutex.tryLock(null)) return;
        result.r2 = second;
        result.r1 = first;
        mutex.unlock(null);
    }
}
