package baton.interop.select;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import baton.interop.AsyncBarrier;
import baton.interop.AsyncChannel;
import baton.interop.AsyncMutex;
import baton.interop.AsyncSemaphore;
import baton.interop.Permit;
import baton.interop.Select;
import baton.interop.internal.select.Clause;
import baton.interop.internal.select.Clauses;
import baton.interop.internal.select.SelectFuture;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** Events at the clauses of a select while it starts, before its last clause waits. */
class SelectStartTest {
    /** A stage that never completes, and that runs {@code meanwhile} when a select begins to listen to it. */
    private static CompletableFuture<String> stage(Runnable meanwhile) {
        return new CompletableFuture<>() {
            @Override
            public CompletableFuture<String> toCompletableFuture() {
                meanwhile.run();
                return this;
            }
        };
    }

    @Test
    void twoSendsAreMetWhileItStarts_oneElementIsSent() {
        AsyncChannel<String> first = AsyncChannel.create(0);
        AsyncChannel<String> second = AsyncChannel.create(0);
        CompletableFuture<?>[] receivers = new CompletableFuture<?>[2];
        CompletableFuture<String> sender = Select.<String>first()
                .onSend(first, "x", () -> "first")
                .onSend(second, "y", () -> "second")
                .onFuture(
                        stage(() -> {
                            receivers[0] = Select.<String>first()
                                    .onReceive(first, element -> element)
                                    .start();
                            receivers[1] = Select.<String>first()
                                    .onReceive(second, element -> element)
                                    .start();
                        }),
                        element -> element)
                .start();
        List<CompletableFuture<?>> received =
                Stream.of(receivers).filter(CompletableFuture::isDone).toList();
        assertTrue(sender.isDone());
        assertEquals(1, received.size());
        assertEquals(sender.join().equals("first") ? "x" : "y", received.get(0).join());
        assertEquals(1, first.waiting() + second.waiting());
    }

    @Test
    void lastPartyOfABarrierWhoseArrivalGrantsALock_hasArrived() {
        AsyncBarrier barrier = AsyncBarrier.create(2);
        AsyncMutex mutex = AsyncMutex.create();
        Permit held = mutex.tryLock().orElseThrow();
        CompletableFuture<Integer> other = barrier.arrive();
        var unused = other.thenRun(held::close);
        CompletableFuture<String> select = Select.<String>first()
                .onLock(mutex, permit -> "lock")
                .onArrive(barrier, index -> "arrived " + index)
                .start();
        assertEquals("arrived 0", select.join());
        assertEquals(1, other.join());
        assertFalse(barrier.isBroken());
        assertFalse(mutex.isLocked());
    }

    @Test
    void twoLocksOfOneOwner_oneIsGrantedWhileItStarts_wins() {
        AsyncMutex mutex = AsyncMutex.create();
        Object owner = new Object();
        Permit held = mutex.tryLock().orElseThrow();
        CompletableFuture<String> select = Select.<String>first()
                .onLock(mutex.ownedBy(owner), permit -> "one")
                .onFuture(stage(held::close), element -> element)
                .onLock(mutex.ownedBy(owner), permit -> "other")
                .start();
        assertEquals("one", select.join());
        assertEquals(0, mutex.waiting());
    }

    @Test
    void clauseThrowsAnErrorWhileItStarts_noClauseWaits() {
        AsyncSemaphore before = AsyncSemaphore.create(1);
        AsyncSemaphore after = AsyncSemaphore.create(1);
        Permit one = before.tryAcquire().orElseThrow();
        Permit other = after.tryAcquire().orElseThrow();
        StackOverflowError error = new StackOverflowError();
        CompletableFuture<String> select = SelectFuture.start(
                List.of(
                        Clauses.acquire(before.kotlin(), 1, null, permit -> "before"),
                        call -> new ThrowingAttempt(error),
                        Clauses.acquire(after.kotlin(), 1, null, permit -> "after")),
                null);
        assertSame(error, assertThrows(CompletionException.class, select::join).getCause());
        assertEquals(0, before.waiting() + after.waiting());
        one.close();
        other.close();
        assertEquals(2, before.availablePermits() + after.availablePermits());
    }

    private record ThrowingAttempt(Error error) implements Clause.Attempt {
        @Override
        public void start() {
            throw error;
        }

        @Override
        public void withdraw() {}

        @Override
        public void finish() {}

        @Override
        public void undo() {}

        @Override
        public String description() {
            return "a clause that throws";
        }
    }
}
