package baton.interop.shared;

import baton.interop.AsyncSharedRegion;
import baton.interop.AsyncSharedRegion.AsyncSharedMutex;
import baton.shared.SharedLock;
import java.nio.file.Path;

/** Two regions of one file in this process: each is a member of its own, as another process is. */
final class TwoMembers implements AutoCloseable {
    final AsyncSharedRegion here;
    final AsyncSharedRegion there;
    final AsyncSharedMutex mine;
    final AsyncSharedMutex others;

    TwoMembers(Path directory) {
        Path path = directory.resolve("app");
        here = AsyncSharedRegion.open(path);
        there = AsyncSharedRegion.open(path);
        mine = here.mutex("m");
        others = there.mutex("m");
    }

    /** The lock, held by the other member. */
    SharedLock heldThere() {
        return others.tryLock().orElseThrow();
    }

    @Override
    public void close() {
        here.close();
        there.close();
    }
}
