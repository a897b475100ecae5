package baton.interop.select;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertTrue;

import baton.interop.AsyncBarrier;
import baton.interop.AsyncChannel;
import baton.interop.AsyncLatch;
import baton.interop.AsyncMutex;
import baton.interop.AsyncReadWriteLock;
import baton.interop.AsyncSemaphore;
import baton.interop.AsyncWaitGroup;
import baton.interop.Permit;
import baton.interop.Select;
import java.util.concurrent.CompletableFuture;

/** A primitive at which a clause waits, with the call that grants the clause and the checks that nothing is left. */
abstract class SelectKind {
    /** Adds the clause, whose function returns {@code "won"}. */
    abstract void add(Select<String> select);

    /** Grants the clause, which has waited from its start. */
    abstract void grantClause();

    abstract int waiting();

    /** After the clause has lost and was granted too late: the next request gets what the clause would have got. */
    abstract void checkNothingLost();

    /** After the clause has won. */
    void checkWon() {}

    @Override
    public String toString() {
        return getClass().getSimpleName();
    }

    static final class Receive extends SelectKind {
        private final AsyncChannel<String> channel = AsyncChannel.create(1);

        @Override
        void add(Select<String> select) {
            select.onReceive(channel, x -> x);
        }

        @Override
        void grantClause() {
            assertTrue(channel.trySend("won"));
        }

        @Override
        int waiting() {
            return channel.waiting();
        }

        @Override
        void checkNothingLost() {
            assertEquals("won", channel.receive().join());
        }
    }

    static final class Send extends SelectKind {
        private final AsyncChannel<String> channel = AsyncChannel.create(0);
        private CompletableFuture<String> received;

        @Override
        void add(Select<String> select) {
            select.onSend(channel, "x", () -> "won");
        }

        @Override
        void grantClause() {
            received = channel.receive();
        }

        @Override
        int waiting() {
            return channel.waiting();
        }

        @Override
        void checkNothingLost() {
            assertFalse(received.isDone());
            assertTrue(channel.trySend("y"));
            assertEquals("y", received.join());
        }

        @Override
        void checkWon() {
            assertEquals("x", received.join());
        }
    }

    static class Acquire extends SelectKind {
        private final AsyncSemaphore semaphore = AsyncSemaphore.create(3);
        private final Permit holder = semaphore.acquire(2).join();

        @Override
        void add(Select<String> select) {
            select.onAcquire(semaphore, 2, permit -> {
                try (permit) {
                    assertEquals(1, semaphore.availablePermits());
                    return "won";
                }
            });
        }

        @Override
        void grantClause() {
            holder.close();
        }

        @Override
        int waiting() {
            return semaphore.waiting();
        }

        @Override
        void checkNothingLost() {
            assertEquals(3, semaphore.availablePermits());
        }

        @Override
        void checkWon() {
            checkNothingLost();
        }
    }

    static final class Lock extends SelectKind {
        private final AsyncMutex mutex = AsyncMutex.create();
        private final Permit holder = mutex.lock().join();

        @Override
        void add(Select<String> select) {
            select.onLock(mutex, this, permit -> {
                try (permit) {
                    assertSame(this, mutex.holder().orElseThrow());
                    return "won";
                }
            });
        }

        @Override
        void grantClause() {
            holder.close();
        }

        @Override
        int waiting() {
            return mutex.waiting();
        }

        @Override
        void checkNothingLost() {
            assertFalse(mutex.isLocked());
        }

        @Override
        void checkWon() {
            checkNothingLost();
        }
    }

    static final class Read extends SelectKind {
        private final AsyncReadWriteLock lock = AsyncReadWriteLock.create();
        private final Permit holder = lock.write().join();

        @Override
        void add(Select<String> select) {
            select.onRead(lock, permit -> {
                try (permit) {
                    assertEquals(1, lock.readers());
                    return "won";
                }
            });
        }

        @Override
        void grantClause() {
            holder.close();
        }

        @Override
        int waiting() {
            return lock.waiting();
        }

        @Override
        void checkNothingLost() {
            assertTrue(lock.tryLockWrite().isPresent());
        }

        @Override
        void checkWon() {
            checkNothingLost();
        }
    }

    static final class Write extends SelectKind {
        private final AsyncReadWriteLock lock = AsyncReadWriteLock.create();
        private final Permit holder = lock.read().join();

        @Override
        void add(Select<String> select) {
            select.onWrite(lock, permit -> {
                try (permit) {
                    permit.downgrade();
                    assertEquals(1, lock.readers());
                    return "won";
                }
            });
        }

        @Override
        void grantClause() {
            holder.close();
        }

        @Override
        int waiting() {
            return lock.waiting();
        }

        @Override
        void checkNothingLost() {
            assertTrue(lock.tryLockWrite().isPresent());
        }

        @Override
        void checkWon() {
            checkNothingLost();
        }
    }

    static final class Open extends SelectKind {
        private final AsyncLatch latch = AsyncLatch.create(1);

        @Override
        void add(Select<String> select) {
            select.onAwait(latch, () -> "won");
        }

        @Override
        void grantClause() {
            latch.countDown();
        }

        @Override
        int waiting() {
            return latch.waiting();
        }

        @Override
        void checkNothingLost() {
            assertEquals(0, latch.count());
        }
    }

    static final class Zero extends SelectKind {
        private final AsyncWaitGroup group = AsyncWaitGroup.create();

        Zero() {
            group.add();
        }

        @Override
        void add(Select<String> select) {
            select.onAwait(group, () -> "won");
        }

        @Override
        void grantClause() {
            group.done();
        }

        @Override
        int waiting() {
            return group.waiting();
        }

        @Override
        void checkNothingLost() {
            assertEquals(0, group.count());
        }
    }

    static final class Arrive extends SelectKind {
        private final AsyncBarrier barrier = AsyncBarrier.create(2);
        CompletableFuture<Integer> party;

        @Override
        void add(Select<String> select) {
            select.onArrive(barrier, index -> index == 1 ? "won" : "index = " + index);
        }

        @Override
        void grantClause() {
            party = barrier.arrive();
        }

        @Override
        int waiting() {
            return barrier.waiting();
        }

        @Override
        void checkNothingLost() {
            assertFalse(party.isDone(), "the arrival was withdrawn");
            assertEquals(0, barrier.arrive().join());
        }

        @Override
        void checkWon() {
            assertEquals(0, party.join());
        }
    }

    static final class Future extends SelectKind {
        private final CompletableFuture<String> future = new CompletableFuture<>();

        @Override
        void add(Select<String> select) {
            select.onFuture(future, x -> x);
        }

        @Override
        void grantClause() {
            assertTrue(future.complete("won"), "a clause that loses cancels nothing");
        }

        @Override
        int waiting() {
            return future.getNumberOfDependents();
        }

        @Override
        void checkNothingLost() {
            assertEquals("won", future.join());
        }
    }
}
