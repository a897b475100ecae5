package baton.verification;

import baton.sync.ReadWriteLock;
import baton.sync.ReadWritePolicy;
import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.Expect;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.ZZ_Result;

/**
 * A writer, and two readers. One reader passes an owner, and so takes the path under the core's lock. No reader sees
 * data that is being written. The readers share a thread: more than two actors do not run on two processors.
 */
@JCStressTest
@Outcome(id = "true, true", expect = Expect.ACCEPTABLE, desc = "No reader saw half of it, and the lock is free.")
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
    public void readers(ZZ_Result result) {
        result.r1 = true;
        if (!lock.tryLockRead(null)) return;
        if (lock.tryLockRead(this)) {
            result.r1 = second == first;
            lock.unlockRead(this);
        }
        result.r1 &= first == second;
        lock.unlockRead(null);
    }

    @Arbiter
    public void left(ZZ_Result result) {
        result.r2 = lock.tryLockWrite(null);
    }
}
