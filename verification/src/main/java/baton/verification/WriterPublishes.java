package baton.verification;

import baton.sync.ReadWriteLock;
import baton.sync.ReadWritePolicy;
import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Expect;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.II_Result;

/** Plain data written before a downgrade, and before an unlock, is seen by the next reader. */
@JCStressTest
@Outcome(id = "-1, -1", expect = Expect.ACCEPTABLE, desc = "The reader did not get in.")
@Outcome(id = "0, 0", expect = Expect.ACCEPTABLE, desc = "The reader came first.")
@Outcome(id = "1, 1", expect = Expect.ACCEPTABLE, desc = "The reader came second and sees all.")
@Outcome(expect = Expect.FORBIDDEN, desc = "Half of what was written.")
@State
public class WriterPublishes {
    private final ReadWriteLock lock = new ReadWriteLock(ReadWritePolicy.PHASE_FAIR, null);
    private int first;
    private int second;

    @Actor
    public void writer() {
        if (!lock.tryLockWrite(null)) return;
        first = 1;
        second = 1;
        lock.downgrade(null);
        lock.unlockRead(null);
    }

    @Actor
    public void reader(II_Result result) {
        result.r1 = -1;
        result.r2 = -1;
        if (!lock.tryLockRead(null)) return;
        result.r2 = second;
        result.r1 = first;
        lock.unlockRead(null);
    }
}
