package baton.interop;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import baton.interop.stress.Race;
import baton.sync.WaitOrder;
import org.junit.jupiter.api.Test;

class PermitTest {
    private final AsyncSemaphore semaphore = AsyncSemaphore.create(3, WaitOrder.FIFO, "uplink");

    @Test
    void close_again_doesNothing() {
        Permit two = semaphore.acquire(2).join();
        Permit one = semaphore.acquire(1).join();
        two.close();
        two.close();
        assertEquals(2, semaphore.availablePermits());
        try (one) {
            one.close();
        }
        assertEquals(3, semaphore.availablePermits());
        AsyncMutex mutex = AsyncMutex.create();
        Permit first = mutex.lock().join();
        first.close();
        Permit second = mutex.lock().join();
        first.close();
        assertTrue(mutex.isLocked());
        second.close();
    }

    @Test
    void isHeld_untilClosed() {
        Permit permit = semaphore.acquire().join();
        assertTrue(permit.isHeld());
        permit.close();
        assertFalse(permit.isHeld());
    }

    @Test
    void toString_namesPermitsAndPrimitive() {
        Permit one = semaphore.acquire().join();
        assertEquals("held: 1 permit of Semaphore 'uplink' (permits = 3, available = 2, waiting = 0)", one.toString());
        Permit two = semaphore.acquire(2).join();
        assertEquals("held: 2 permits of Semaphore 'uplink' (permits = 3, available = 0, waiting = 0)", two.toString());
        one.close();
        assertEquals(
                "closed: 1 permit of Semaphore 'uplink' (permits = 3, available = 1, waiting = 0)", one.toString());
        AsyncMutex mutex = AsyncMutex.create("account");
        Permit lock = mutex.ownedBy("me").lock().join();
        assertEquals("held: lock of Mutex 'account' (locked by me, waiting = 0)", lock.toString());
        lock.close();
        assertEquals("closed: lock of Mutex 'account' (free)", lock.toString());
    }

    @Test
    void close_fromTwoThreadsAtOnce_givesBackOnce() {
        Race race = new Race();
        for (int round = 0; round < 2_000; round++) {
            Permit permit = semaphore.acquire(2).join();
            race.run(round, permit::close, permit::close);
            assertEquals(3, semaphore.availablePermits());
        }
    }

    @Test
    void permit_releasedByOtherCode_failsWhenClosed() {
        Permit permit = semaphore.acquire().join();
        semaphore.kotlin().release(1);
        assertThrows(IllegalStateException.class, permit::close);
        assertEquals(3, semaphore.availablePermits());
        permit.close();
        AsyncMutex mutex = AsyncMutex.create();
        Permit lock = mutex.ownedBy("me").lock().join();
        mutex.kotlin().unlock("me");
        assertThrows(IllegalStateException.class, lock::close);
        assertFalse(mutex.isLocked());
    }
}
