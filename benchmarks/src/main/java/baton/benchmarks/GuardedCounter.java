package baton.benchmarks;

import baton.shared.SharedLock;
import baton.shared.SharedMutex;
import baton.shared.SharedRegion;
import baton.shared.SharedRegionOptions;
import baton.shared.WaitMode;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.concurrent.locks.ReentrantLock;

/**
 * A counter and the lock that guards it: in a file for locks between processes, in the heap for {@link ReentrantLock}. One
 * thread of each process uses it, whose increments do not fail: so no lock is in a {@code finally}.
 */
interface GuardedCounter extends AutoCloseable {
    void increment() throws Exception;

    long value();

    @Override
    void close() throws IOException;

    /** The counter under the lock of that name; {@code reentrantLock} does not use the file. */
    static GuardedCounter open(String lock, Path file) throws IOException {
        return switch (lock) {
            case "baton" -> new InRegion(file);
            case "fileLock" -> new InLockedFile(file);
            case "reentrantLock" -> new InHeap();
            default -> throw new IllegalArgumentException("lock = " + lock);
        };
    }

    /** Baton's, between processes. */
    final class InRegion implements GuardedCounter {
        private final SharedRegion region;
        private final SharedMutex mutex;
        private final ByteBuffer bytes;

        InRegion(Path file) {
            region = SharedRegion.open(file, new SharedRegionOptions(WaitMode.FUTEX));
            mutex = region.mutex("counter");
            bytes = region.bytes("counter", Long.BYTES);
        }

        @Override
        public void increment() throws InterruptedException {
            SharedLock lock = mutex.lockBlocking();
            bytes.putLong(0, bytes.getLong(0) + 1);
            lock.close();
        }

        SharedMutex mutex() {
            return mutex;
        }

        WaitMode waiting() {
            return region.getWaiting();
        }

        @Override
        public long value() {
            return bytes.getLong(0);
        }

        @Override
        public void close() {
            region.close();
        }
    }

    /** The JDK's, between processes. */
    final class InLockedFile implements GuardedCounter {
        private final FileChannel channel;
        private final ByteBuffer bytes;

        private InLockedFile(Path file) throws IOException {
            channel = FileChannel.open(
                    file, StandardOpenOption.CREATE, StandardOpenOption.READ, StandardOpenOption.WRITE);
            bytes = channel.map(FileChannel.MapMode.READ_WRITE, 0, Long.BYTES).order(ByteOrder.nativeOrder());
        }

        @Override
        public void increment() throws IOException {
            FileLock lock = channel.lock();
            bytes.putLong(0, bytes.getLong(0) + 1);
            lock.release();
        }

        @Override
        public long value() {
            return bytes.getLong(0);
        }

        @Override
        public void close() throws IOException {
            channel.close();
        }
    }

    /** The JDK's, within the process. */
    final class InHeap implements GuardedCounter {
        private final ReentrantLock lock = new ReentrantLock();
        private final ByteBuffer bytes = ByteBuffer.allocateDirect(Long.BYTES).order(ByteOrder.nativeOrder());

        @Override
        public void increment() throws InterruptedException {
            lock.lockInterruptibly();
            bytes.putLong(0, bytes.getLong(0) + 1);
            lock.unlock();
        }

        @Override
        public long value() {
            return bytes.getLong(0);
        }

        @Override
        public void close() {}
    }
}
