package baton.interop.locks;

import static baton.interop.Futures.await;
import static baton.interop.Futures.awaitFailure;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import baton.interop.AsyncReadWriteLock;
import baton.interop.Permit;
import baton.interop.UpgradablePermit;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.stream.Stream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/** Ends the future of a request to a read-write lock, waiting or granted: every combination of request and way. */
class ReadWriteFutureTableTest {
    private enum Kind {
        READ,
        WRITE,
        UPGRADABLE,
        UPGRADE
    }

    private enum Ender {
        CANCEL(CancellationException.class),
        COMPLETE(null),
        COMPLETE_EXCEPTIONALLY(Outside.class),
        OR_TIMEOUT(TimeoutException.class),
        COMPLETE_ON_TIMEOUT(null),
        COMPLETE_ASYNC(null),
        COMPLETE_ASYNC_FAILING(CompletionException.class),
        OBTRUDE_VALUE(null),
        OBTRUDE_EXCEPTION(Outside.class),
        OWN_TIMEOUT(TimeoutException.class),
        GRANT(null);

        /** The type of the failure of a waiting future, or null. */
        private final Class<? extends Throwable> failure;

        Ender(Class<? extends Throwable> failure) {
            this.failure = failure;
        }

        boolean obtrudes() {
            return this == OBTRUDE_VALUE || this == OBTRUDE_EXCEPTION;
        }

        private <P extends Permit> void end(CompletableFuture<P> subject, Permit holder) {
            switch (this) {
                case CANCEL -> subject.cancel(true);
                case COMPLETE -> subject.complete(null);
                case COMPLETE_EXCEPTIONALLY -> subject.completeExceptionally(new Outside());
                case OR_TIMEOUT -> subject.orTimeout(1, TimeUnit.NANOSECONDS);
                case COMPLETE_ON_TIMEOUT -> subject.completeOnTimeout(null, 1, TimeUnit.NANOSECONDS);
                case COMPLETE_ASYNC -> subject.completeAsync(() -> null);
                case COMPLETE_ASYNC_FAILING ->
                    subject.completeAsync(() -> {
                        throw new Outside();
                    });
                case OBTRUDE_VALUE -> subject.obtrudeValue(null);
                case OBTRUDE_EXCEPTION -> subject.obtrudeException(new Outside());
                case OWN_TIMEOUT -> {}
                case GRANT -> holder.close();
            }
        }
    }

    private static final class Outside extends RuntimeException {
        private static final long serialVersionUID = 1;
    }

    static Stream<Arguments> cells() {
        List<Arguments> cells = new ArrayList<>();
        for (Kind kind : Kind.values()) {
            for (Ender ender : Ender.values()) {
                cells.add(Arguments.of(kind, ender, true));
                if (ender != Ender.GRANT && ender != Ender.OWN_TIMEOUT) cells.add(Arguments.of(kind, ender, false));
            }
        }
        return cells.stream();
    }

    /** A holder that blocks the subject, the subject, and a reader behind the subject. */
    private static final class Cell {
        private final AsyncReadWriteLock rw = AsyncReadWriteLock.create();
        private final Kind kind;
        private final Permit holder;
        private final UpgradablePermit mine;
        private final CompletableFuture<? extends Permit> subject;
        private final CompletableFuture<Permit> behind;

        Cell(Kind kind, boolean timed) {
            this.kind = kind;
            boolean written = kind == Kind.READ || kind == Kind.UPGRADABLE;
            holder = written ? rw.lockWrite().join() : rw.lockRead().join();
            mine = kind == Kind.UPGRADE ? rw.lockUpgradable().join() : null;
            Duration timeout = timed ? Duration.ofMillis(40) : Duration.ofDays(1);
            subject = switch (kind) {
                case READ -> rw.lockRead(timeout);
                case WRITE -> rw.lockWrite(timeout);
                case UPGRADABLE -> rw.lockUpgradable(timeout);
                case UPGRADE -> mine.upgrade(timeout);
            };
            behind = rw.lockRead();
        }

        String state() {
            return rw.readers() + " read, " + rw.isWriteLocked() + ", " + rw.waiting() + " wait";
        }

        String expectedAfter(Ender ender) {
            if (ender == Ender.GRANT) {
                return kind == Kind.READ || kind == Kind.UPGRADABLE ? "2 read, false, 0 wait" : "0 read, true, 1 wait";
            }
            return switch (kind) {
                case READ, UPGRADABLE -> "0 read, true, 1 wait";
                case WRITE -> "2 read, false, 0 wait";
                case UPGRADE -> "3 read, false, 0 wait";
            };
        }

        /** Closes the permits that are held, and asserts that the lock is free. */
        void assertAllComesBack(Permit granted) {
            holder.close();
            if (granted != null) granted.close();
            if (mine != null) {
                assertEquals(granted == null, mine.isHeld());
                if (mine.isHeld())
                    assertEquals(behind.isDone(), mine.tryUpgrade().isEmpty());
                mine.close();
            }
            behind.join().close();
            assertEquals("0 read, false, 0 wait", state());
            assertTrue(rw.tryLockWrite().isPresent());
        }
    }

    @ParameterizedTest(name = "{0} {1} {2}")
    @MethodSource("cells")
    void future_endedFromOutside_isConsistentAndLosesNothing(Kind kind, Ender ender, boolean waits) {
        Cell cell;
        CompletableFuture<String> seen;
        do {
            cell = new Cell(kind, ender == Ender.OWN_TIMEOUT);
            Cell now = cell;
            seen = cell.subject.handle((permit, e) -> now.state());
            // If the machine stalls, the timeout of the subject may expire before the other request is enqueued.
        } while (ender == Ender.OWN_TIMEOUT && seen.isDone());
        Permit granted = null;
        if (!waits) {
            cell.holder.close();
            granted = cell.subject.join();
        }
        ender.end(cell.subject, cell.holder);

        assertEquals(cell.expectedAfter(waits ? ender : Ender.GRANT), await(seen), "when it is seen completed");
        assertEquals(cell.expectedAfter(waits ? ender : Ender.GRANT), cell.state());
        Class<? extends Throwable> failure = waits || ender.obtrudes() ? ender.failure : null;
        assertEquals(failure != null, cell.subject.isCompletedExceptionally());
        assertEquals(failure == CancellationException.class, cell.subject.isCancelled());
        if (failure != null) {
            assertInstanceOf(failure, awaitFailure(cell.subject));
        } else if (ender == Ender.GRANT) {
            granted = cell.subject.join();
        } else if (waits || ender.obtrudes()) {
            assertNull(cell.subject.join());
        }
        assertEquals(granted == null, waits && ender != Ender.GRANT);
        if (granted != null) assertTrue(granted.isHeld());
        cell.assertAllComesBack(granted);
        if (granted != null) assertFalse(granted.isHeld());
    }
}
