package baton.interop.blocking;

import static java.util.concurrent.TimeUnit.MILLISECONDS;
import static java.util.concurrent.TimeUnit.SECONDS;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import baton.interop.AsyncReadWriteLock;
import baton.interop.BlockingReadWriteLock;
import baton.interop.Permit;
import baton.interop.WritePermit;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.locks.Lock;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(300)
class BlockingReadWriteLockTest {
    private final AsyncReadWriteLock async = AsyncReadWriteLock.create();
    private final BlockingReadWriteLock rw = async.blocking();
    private final Lock read = rw.readLock();
    private final Lock write = rw.writeLock();

    @Test
    void readers_share_andWriterWaitsForThem() throws Exception {
        read.lock();
        assertEquals("value", BlockedCall.started(() -> rw.read(() -> "value")).result());
        BlockedCall<String> writer = BlockedCall.parked(() -> rw.write(() -> "written"));
        assertEquals(1, async.waiting());
        read.unlock();
        assertEquals("written", writer.result());
        assertFalse(async.isWriteLocked());
    }

    @Test
    void threads_futuresAndCoroutines_waitInOneQueue() throws Exception {
        WritePermit first = async.lockWrite().join();
        BlockedCall<Integer> second = BlockedCall.parked(() -> rw.write(async::waiting));
        var third = async.lockWrite();
        BlockedCall<Integer> fourth = BlockedCall.parked(() -> rw.write(async::waiting));
        assertEquals(3, async.waiting());
        first.close();
        assertEquals(2, second.result());
        third.join().close();
        assertEquals(0, fourth.result());
    }

    @Test
    void unlock_byAThreadThatDoesNotHoldIt_throwsAndChangesNothing() {
        assertThrows(IllegalMonitorStateException.class, read::unlock);
        read.lock();
        assertThrows(IllegalMonitorStateException.class, write::unlock);
        assertEquals(1, async.readers());
        assertEquals(List.of(Thread.currentThread()), async.readHolders());
    }

    @Test
    void lock_wouldWaitForItself_throwsInsteadOfHanging() {
        write.lock();
        assertThrows(IllegalStateException.class, write::lock);
        assertThrows(IllegalStateException.class, read::lock);
        assertThrows(IllegalStateException.class, () -> write.tryLock(1, SECONDS));
        assertFalse(write.tryLock());
        assertFalse(read.tryLock());
        write.unlock();
        read.lock();
        assertThrows(IllegalStateException.class, write::lock);
        assertFalse(write.tryLock());
    }

    @Test
    void lock_interruptedOrTooLate_holdsNothing() throws Exception {
        Permit held = async.lockWrite().join();
        for (Lock lock : List.of(read, write)) {
            for (long time : new long[] {Long.MIN_VALUE, -1, 0, 1}) assertFalse(lock.tryLock(time, MILLISECONDS));
            BlockedCall<?> waiter =
                    BlockedCall.parked(() -> assertThrows(InterruptedException.class, lock::lockInterruptibly));
            waiter.thread.interrupt();
            waiter.result();
            BlockedCall<Boolean> stubborn = BlockedCall.parked(() -> {
                lock.lock();
                lock.unlock();
                return Thread.interrupted();
            });
            stubborn.thread.interrupt();
            stubborn.awaitParked();
            assertEquals(1, async.waiting());
            held.close();
            assertTrue(stubborn.result());
            held = async.lockWrite().join();
        }
        TimeoutException late =
                assertThrows(TimeoutException.class, () -> rw.read(Duration.ofMillis(1), () -> "never"));
        assertTrue(late.getMessage().startsWith("not locked to read within 1ms: "), late.getMessage());
        assertThrows(TimeoutException.class, () -> rw.write(Duration.ZERO, () -> "never"));
        held.close();
        assertEquals("value", rw.write(Duration.ofMillis(-1), () -> "value"));
    }

    @Test
    void newCondition_isNotSupported() {
        assertThrows(UnsupportedOperationException.class, read::newCondition);
        assertThrows(UnsupportedOperationException.class, write::newCondition);
        assertTrue(read.toString().startsWith("read lock of BlockingReadWriteLock"), read.toString());
    }
}
