package baton.interop.stress;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import baton.interop.AsyncChannel;
import baton.interop.AsyncMutex;
import baton.interop.AsyncSemaphore;
import baton.interop.BlockingChannel;
import baton.interop.BlockingMutex;
import baton.interop.BlockingSemaphore;
import baton.interop.Permit;
import baton.interop.blocking.BlockedCall;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.function.Executable;

/** An interrupt meets the grant, at a time that moves from before it to after it: nothing is lost. */
@Timeout(300)
class BlockingInterruptStressTest {
    private static final int ROUNDS = 1_600;

    private final Race race = new Race();

    @Test
    void interrupt_meetsTheGrant_permitIsHeldOrBack() throws Exception {
        AsyncSemaphore async = AsyncSemaphore.create(1);
        BlockingSemaphore semaphore = async.blocking();
        int interrupted = 0;
        for (int round = 0; round < ROUNDS; round++) {
            Permit held = semaphore.acquire();
            BlockedCall<Boolean> waiter = waiter(() -> semaphore.acquire().close());
            race.run(round, waiter.thread::interrupt, held::close);
            if (waiter.result()) interrupted++;
            assertEquals("1 0", async.availablePermits() + " " + async.waiting());
        }
        assertTrue(interrupted > 0, "no interrupt was in time");
    }

    @Test
    void interrupt_meetsTheElement_elementIsReceivedOrStays() throws Exception {
        AsyncChannel<Integer> async = AsyncChannel.create(1);
        BlockingChannel<Integer> channel = async.blocking();
        for (int round = 0; round < ROUNDS; round++) {
            int element = round;
            BlockedCall<Boolean> waiter = waiter(() -> assertEquals(element, channel.receive()));
            race.run(round, waiter.thread::interrupt, () -> assertTrue(channel.trySend(element)));
            assertEquals(waiter.result() ? 1 : 0, async.size());
            if (async.size() == 1) assertEquals(element, channel.receive());
            assertEquals(0, async.waiting());
        }
    }

    @Test
    void interrupt_meetsTheUnlock_mutexIsFree() throws Exception {
        AsyncMutex async = AsyncMutex.create();
        BlockingMutex mutex = async.blocking();
        for (int round = 0; round < ROUNDS; round++) {
            mutex.lock();
            BlockedCall<Boolean> waiter = waiter(() -> {
                mutex.lockInterruptibly();
                mutex.unlock();
            });
            race.run(round, waiter.thread::interrupt, mutex::unlock);
            waiter.result();
            assertFalse(async.isLocked());
            assertEquals(0, async.waiting());
        }
    }

    /** Its result: whether it was interrupted before it was served. */
    private static BlockedCall<Boolean> waiter(Executable call) {
        return BlockedCall.parked(() -> {
            try {
                call.execute();
                return false;
            } catch (InterruptedException e) {
                return true;
            } catch (Throwable e) {
                throw new AssertionError(e);
            }
        });
    }
}
