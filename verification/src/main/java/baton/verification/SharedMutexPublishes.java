package baton.verification;

import baton.shared.SharedLock;
import baton.shared.SharedMutex;
import baton.shared.SharedRegion;
import baton.shared.SharedRegionOptions;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Expect;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.II_Result;

/**
 * As {@link MutexPublishes}, with a mutex in shared memory, whose two members stand for two processes. All states share
 * the mutex, so that an actor may also lose it to its opponent at another state.
 */
@JCStressTest
@Outcome(id = "-1, -1", expect = Expect.ACCEPTABLE, desc = "The reader did not get the lock.")
@Outcome(id = "0, 0", expect = Expect.ACCEPTABLE, desc = "The reader came first, or the writer did not get the lock.")
@Outcome(id = "1, 1", expect = Expect.ACCEPTABLE, desc = "The reader came second and sees all.")
@Outcome(expect = Expect.FORBIDDEN, desc = "Half of a critical section.")
@State
public class SharedMutexPublishes {
    private static final Path FILE = newFile();
    private static final SharedMutex HERE = open();
    private static final SharedMutex THERE = open();

    private int first;
    private int second;

    private static Path newFile() {
        try {
            Path file = Files.createTempDirectory("baton").resolve("region");
            file.getParent().toFile().deleteOnExit();
            file.resolveSibling(".region.live").toFile().deleteOnExit();
            file.toFile().deleteOnExit();
            return file;
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static SharedMutex open() {
        return SharedRegion.open(FILE, new SharedRegionOptions()).mutex("m");
    }

    @Actor
    public void writer() {
        SharedLock lock = HERE.tryLock();
        if (lock == null) return;
        first = 1;
        second = 1;
        lock.close();
    }

    @Actor
    public void reader(II_Result result) {
        result.r1 = -1;
        result.r2 = -1;
        SharedLock lock = THERE.tryLock();
        if (lock == null) return;
        result.r2 = second;
        result.r1 = first;
        lock.close();
    }
}
