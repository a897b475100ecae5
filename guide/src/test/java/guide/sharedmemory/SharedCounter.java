package guide.sharedmemory;

import baton.interop.AsyncSharedRegion;
import baton.shared.SharedLock;
import java.nio.ByteBuffer;
import java.nio.file.Path;

class SharedCounter implements AutoCloseable {
    private final AsyncSharedRegion region;
    private final ByteBuffer bytes;

    SharedCounter(Path file) { // such as /dev/shm/app, the same in all processes
        region = AsyncSharedRegion.open(file);
        bytes = region.bytes("counter", 16); // the number, and a copy
    }

    long increment() throws InterruptedException {
        try (SharedLock lock = region.mutex("counter").lockBlocking()) {
            if (lock.getAbandoned()) { // a holder has died in between
                bytes.putLong(0, bytes.getLong(8));
                lock.markConsistent();
            }
            long next = bytes.getLong(0) + 1;
            bytes.putLong(0, next);
            bytes.putLong(8, next);
            return next;
        }
    }

    @Override
    public void close() {
        region.close();
    }
}
