package baton.interop.blocking;

import static java.util.concurrent.TimeUnit.MILLISECONDS;
import static java.util.concurrent.TimeUnit.SECONDS;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import baton.interop.AsyncMutex;
import baton.interop.BlockingMutex;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Date;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.Callable;
import java.util.concurrent.locks.Condition;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(300)
class BlockingConditionTest {
    private final AsyncMutex mutex = AsyncMutex.create();
    private final BlockingMutex lock = mutex.blocking();
    private final Condition condition = lock.newCondition("notEmpty");

    private interface Wait {
        Object await() throws InterruptedException;
    }

    /** Waits holding the mutex, and holds it again afterwards. */
    private Callable<Object> holding(Wait wait) {
        return () -> {
            lock.lock();
            try {
                return wait.await();
            } finally {
                lock.unlock();
            }
        };
    }

    private BlockedCall<Object> waiter(Wait wait) throws InterruptedException {
        return BlockedCall.parked(holding(wait));
    }

    private Object await() throws InterruptedException {
        condition.await();
        return lock.isHeldByCurrentThread();
    }

    private void signal() throws Exception {
        holding(() -> {
                    condition.signal();
                    return true;
                })
                .call();
    }

    @Test
    void await_signalled_holdsTheMutexAgain_inTheOrderOfArrival() throws Exception {
        List<BlockedCall<Object>> waiters = new ArrayList<>();
        for (int i = 0; i < 3; i++) waiters.add(waiter(this::await));
        for (BlockedCall<Object> waiter : waiters) {
            signal();
            assertEquals(true, waiter.result());
        }
        assertFalse(mutex.isLocked());
    }

    @Test
    void signalAll_severalWait_allGoOn() throws Exception {
        List<BlockedCall<Object>> waiters = new ArrayList<>();
        for (int i = 0; i < 3; i++) waiters.add(waiter(this::await));
        lock.lock();
        condition.signalAll();
        assertEquals(3, mutex.waiting());
        lock.unlock();
        for (BlockedCall<Object> waiter : waiters) assertEquals(true, waiter.result());
    }

    @Test
    void await_timesOut_holdsTheMutexAgain() throws Exception {
        assertEquals(
                false,
                holding(() -> condition.await(1, MILLISECONDS) || !lock.isHeldByCurrentThread())
                        .call());
        for (long time : new long[] {Long.MIN_VALUE, -1, 0, 1}) {
            assertEquals(true, holding(() -> condition.awaitNanos(time) <= 0).call());
            assertEquals(
                    false, holding(() -> condition.await(time, MILLISECONDS)).call());
        }
        for (long millis : new long[] {Long.MIN_VALUE, 0, System.currentTimeMillis() + 1}) {
            assertEquals(
                    false, holding(() -> condition.awaitUntil(new Date(millis))).call());
        }
        assertFalse(mutex.isLocked());
    }

    @Test
    void await_signalledInTime_tellsSo() throws Exception {
        List<BlockedCall<Object>> waiters = new ArrayList<>();
        waiters.add(waiter(() -> condition.await(120, SECONDS)));
        waiters.add(waiter(() -> condition.awaitNanos(SECONDS.toNanos(120)) > 0));
        waiters.add(waiter(() -> condition.awaitUntil(new Date(System.currentTimeMillis() + 120_000))));
        waiters.add(waiter(() -> condition.await(Long.MAX_VALUE, SECONDS)));
        for (BlockedCall<Object> waiter : waiters) {
            signal();
            assertEquals(true, waiter.result());
        }
    }

    @Test
    void await_interrupted_throwsHoldingTheMutex_andTheSignalIsForTheNext() throws Exception {
        BlockedCall<Object> first = waiter(() -> {
            assertThrows(InterruptedException.class, condition::await);
            return lock.isHeldByCurrentThread() && !Thread.currentThread().isInterrupted();
        });
        BlockedCall<Object> second = waiter(this::await);
        lock.lock();
        first.thread.interrupt();
        while (mutex.waiting() < 1) Thread.onSpinWait();
        lock.unlock();
        assertEquals(true, first.result());
        signal();
        assertEquals(true, second.result());
    }

    /** The first is signalled and does not have the mutex yet: the signal must not end with it. */
    @Test
    void await_signalledAndThenInterrupted_passesTheSignalOn() throws Exception {
        BlockedCall<Object> first = waiter(() -> {
            assertThrows(InterruptedException.class, condition::await);
            return lock.isHeldByCurrentThread();
        });
        BlockedCall<Object> second = waiter(this::await);
        lock.lock();
        condition.signal();
        first.thread.interrupt();
        while (mutex.waiting() < 2) Thread.onSpinWait();
        lock.unlock();
        assertEquals(true, second.result());
        assertEquals(true, first.result());
        assertFalse(mutex.isLocked());
    }

    @Test
    void awaitUninterruptibly_interrupted_waitsOn() throws Exception {
        BlockedCall<Object> waiter = waiter(() -> {
            condition.awaitUninterruptibly();
            return Thread.currentThread().isInterrupted();
        });
        waiter.thread.interrupt();
        waiter.awaitParked();
        signal();
        assertEquals(true, waiter.result());
    }

    @Test
    void await_interruptedAlready_throwsAndKeepsTheMutex() {
        lock.lock();
        Thread.currentThread().interrupt();
        assertThrows(InterruptedException.class, condition::await);
        assertTrue(lock.isHeldByCurrentThread());
        assertFalse(Thread.interrupted());
    }

    @Test
    void call_byAThreadThatDoesNotHoldTheMutex_throws() throws Exception {
        assertThrows(IllegalMonitorStateException.class, condition::await);
        assertThrows(IllegalMonitorStateException.class, condition::signal);
        BlockedCall.started(() -> {
                    lock.lock();
                    return null;
                })
                .result();
        assertThrows(IllegalMonitorStateException.class, () -> condition.await(1, SECONDS));
        assertThrows(IllegalMonitorStateException.class, condition::signalAll);
        assertTrue(condition.toString().startsWith("BlockingCondition 'notEmpty'"), condition.toString());
    }

    @Test
    void boundedBuffer_manyProducersAndConsumers_losesNothing() throws Exception {
        Queue<Integer> buffer = new ArrayDeque<>();
        Condition notFull = lock.newCondition();
        List<BlockedCall<Integer>> consumers = new ArrayList<>();
        List<BlockedCall<Integer>> producers = new ArrayList<>();
        for (int i = 0; i < 4; i++) {
            consumers.add(BlockedCall.started(() -> {
                int sum = 0;
                for (int n = 0; n < 500; n++) {
                    sum += lock.call(() -> {
                        while (buffer.isEmpty()) condition.await();
                        notFull.signal();
                        return buffer.remove();
                    });
                }
                return sum;
            }));
            producers.add(BlockedCall.started(() -> {
                for (int n = 0; n < 500; n++) {
                    int element = n;
                    var unused = lock.call(() -> {
                        while (buffer.size() == 3) notFull.await();
                        condition.signal();
                        return buffer.add(element);
                    });
                }
                return 0;
            }));
        }
        int sum = 0;
        for (BlockedCall<Integer> producer : producers) sum += producer.result();
        for (BlockedCall<Integer> consumer : consumers) sum += consumer.result();
        assertEquals(4 * 500 * 499 / 2, sum);
        assertTrue(buffer.isEmpty());
    }
}
