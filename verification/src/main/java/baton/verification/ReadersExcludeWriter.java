package baton.verification;

import baton.sync.ReadWriteLock;
import baton.sync.ReadWritePolicy;
import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.Expect;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.ZZZ_Result;

/** Two readers, one on the fast path and one with an owner, and a writer: nobody reads what is being written. */
@JCStressTest
@Outcome(id = "true, true, true", expect = Expect.ACCEPTABLE, desc = "Nobody saw half of it, and the lock is free.")
@Outcome(expect = Expect.FORBIDDEN, desc = "A reader beside the writer, or a lock that is not free.")
@State
public class ReadersExcludeWriter {
    private final ReadWriteLock lock = new ReadWriteLock(ReadWritePolicy.PHASE_FAIR, null);
    private int first;
    private int second;

    @Actor
    public void writer() {
        if (!lock.tryLockWrite(null)) return;
        first = 1;
        second = 1;
        lock.unlockWrite(null);
    }

    @Actor
    public void reader(ZZZ_Result result) {
        result.r1 = seesWhole(null);
    }

    @Actor
    public void owner(ZZZ_Result result) {
        result.r2 = seesWhole(this);
    }

    private boolean seesWhole(Object owner) {
        if (!lock.tryLockRead(owner)) return true;
        boolean whole = second == first;
        lock.unlockRead(owner);
        return whole;
    }

    @Arbiter
    public void left(ZZZ_Result result) {
        result.r3 = lock.tryLockWrite(null);
    }
}
