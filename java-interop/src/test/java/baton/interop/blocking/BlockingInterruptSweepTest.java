package baton.interop.blocking;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import baton.interop.AsyncChannel;
import baton.interop.AsyncMutex;
import baton.interop.AsyncReadWriteLock;
import baton.interop.AsyncSemaphore;
import baton.sync.Semaphore;
import baton.sync.WaitOrder;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.BooleanSupplier;
import java.util.function.IntSupplier;
import java.util.function.Supplier;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Three threads wait; two grants and an interrupt of each come in every order. */
@Tag("any-jdk")
@Timeout(300)
class BlockingInterruptSweepTest {
    private static final int THREADS = 3;
    private static final int GRANT = THREADS;
    private static final int GRANTS = 2;

    /**
     * Where the threads wait.
     *
     * @param left the grants that no thread has got
     */
    private record Place(Callable<?> call, Runnable grant, IntSupplier waiting, IntSupplier left) {}

    private enum Kind {
        ACQUIRE(() -> {
            AsyncSemaphore semaphore = AsyncSemaphore.of(new Semaphore(GRANTS, GRANTS, WaitOrder.FIFO, null));
            return new Place(
                    semaphore.blocking()::acquire,
                    () -> semaphore.kotlin().release(1),
                    semaphore::waiting,
                    semaphore::availablePermits);
        }),
        ACQUIRE_TWO(() -> {
            AsyncSemaphore semaphore = AsyncSemaphore.of(new Semaphore(2 * GRANTS, 2 * GRANTS, WaitOrder.FIFO, null));
            return new Place(
                    () -> semaphore.blocking().acquire(2),
                    () -> {
                        semaphore.kotlin().release(1);
                        semaphore.kotlin().release(1);
                    },
                    semaphore::waiting,
                    () -> semaphore.availablePermits() / 2);
        }),
        LOCK(() -> {
            AsyncMutex mutex = AsyncMutex.create();
            mutex.kotlin().tryLock(null);
            return exclusive(
                    mutex.blocking()::lockInterruptibly,
                    mutex::isLocked,
                    () -> mutex.kotlin().unlock(mutex.holder().orElse(null)),
                    mutex::waiting);
        }),
        WRITE(() -> {
            AsyncReadWriteLock rw = AsyncReadWriteLock.create();
            rw.kotlin().tryLockWrite(null);
            return exclusive(
                    rw.blocking().writeLock()::lockInterruptibly,
                    rw::isWriteLocked,
                    () -> rw.kotlin().unlockWrite(rw.writeHolder().orElse(null)),
                    rw::waiting);
        }),
        RECEIVE(() -> {
            AsyncChannel<String> channel = AsyncChannel.create(GRANTS);
            return new Place(
                    channel.blocking()::receive,
                    () -> assertTrue(channel.trySend("x")),
                    channel::waiting,
                    channel::size);
        }),
        SEND(() -> {
            AsyncChannel<String> channel = AsyncChannel.create(GRANTS);
            while (channel.trySend("x")) continue;
            return new Place(
                    () -> {
                        channel.blocking().send("y");
                        return true;
                    },
                    () -> assertTrue(channel.tryReceive().isPresent()),
                    channel::waiting,
                    () -> GRANTS - channel.size());
        });

        private final Supplier<Place> make;

        private interface Locking {
            void lock() throws InterruptedException;
        }

        /** Each grant is an unlock, by other code than the owner. */
        private static Place exclusive(Locking call, BooleanSupplier isLocked, Runnable unlock, IntSupplier waiting) {
            AtomicInteger left = new AtomicInteger();
            return new Place(
                    () -> {
                        call.lock();
                        return true;
                    },
                    () -> {
                        if (isLocked.getAsBoolean()) unlock.run();
                        if (!isLocked.getAsBoolean()) left.incrementAndGet();
                    },
                    waiting,
                    left::get);
        }

        Kind(Supplier<Place> make) {
            this.make = make;
        }
    }

    @ParameterizedTest
    @EnumSource(Kind.class)
    void grantsAndInterrupts_inEveryOrder_serveTheOthersAndLoseNothing(Kind kind) throws Exception {
        List<List<Integer>> orders = new ArrayList<>();
        addOrders(new ArrayList<>(), GRANTS, 0, orders);
        assertEquals(60, orders.size());
        for (List<Integer> order : orders) play(order, kind.make.get());
    }

    /** All sequences of so many grants, and of each interrupt once. */
    private static void addOrders(List<Integer> begun, int grants, int interrupted, List<List<Integer>> orders) {
        if (begun.size() == GRANTS + THREADS) orders.add(List.copyOf(begun));
        for (int event = 0; event <= GRANT; event++) {
            boolean isGrant = event == GRANT;
            if (isGrant ? grants == 0 : (interrupted >> event & 1) == 1) continue;
            begun.add(event);
            addOrders(begun, isGrant ? grants - 1 : grants, isGrant ? interrupted : interrupted | 1 << event, orders);
            begun.remove(begun.size() - 1);
        }
    }

    private static void play(List<Integer> order, Place place) throws Exception {
        List<BlockedCall<String>> calls = new ArrayList<>();
        Deque<Integer> queue = new ArrayDeque<>();
        List<String> expected = new ArrayList<>();
        for (int i = 0; i < THREADS; i++) {
            calls.add(BlockedCall.parked(() -> {
                try {
                    place.call.call();
                    return "served";
                } catch (InterruptedException e) {
                    return "interrupted";
                }
            }));
            queue.add(i);
            expected.add("interrupted");
        }
        int left = 0;
        for (int event : order) {
            if (event == GRANT) {
                place.grant.run();
                if (queue.isEmpty()) left++;
                else expected.set(queue.remove(), "served");
            } else {
                calls.get(event).thread.interrupt();
                queue.remove(event);
            }
            // Those that wait no more have ended, before the next event.
            for (int i = 0; i < THREADS; i++)
                if (!queue.contains(i)) calls.get(i).result();
            assertEquals(queue.size(), place.waiting.getAsInt(), order::toString);
        }
        for (int i = 0; i < THREADS; i++)
            assertEquals(expected.get(i), calls.get(i).result(), order::toString);
        assertEquals(left, place.left.getAsInt(), order::toString);
    }
}
