package baton.interop;

import static baton.interop.Futures.await;
import static baton.interop.Futures.awaitFailure;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import baton.sync.SemaphoreClosedException;
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

/** Ends the future of an acquire: every combination of primitive, state of the future, and way to end it. */
class FutureTableTest {
    private enum Kind {
        SEMAPHORE,
        MUTEX
    }

    private enum State {
        HEAD,
        MIDDLE,
        /** Requests more permits than are free, with smaller requests behind it that would fit. */
        HEAVY_HEAD,
        GRANTED,
        FAILED;

        boolean waits() {
            return ordinal() <= HEAVY_HEAD.ordinal();
        }
    }

    private enum Ender {
        CANCEL(CancellationException.class),
        CANCEL_INTERRUPTING(CancellationException.class),
        COMPLETE(null),
        COMPLETE_EXCEPTIONALLY(Outside.class),
        OR_TIMEOUT(TimeoutException.class),
        COMPLETE_ON_TIMEOUT(null),
        COMPLETE_ASYNC(null),
        COMPLETE_ASYNC_FAILING(CompletionException.class),
        OBTRUDE_VALUE(null),
        OBTRUDE_EXCEPTION(Outside.class),
        OWN_TIMEOUT(TimeoutException.class),
        CLOSE(SemaphoreClosedException.class),
        RESIZE(IllegalArgumentException.class),
        GRANT(null);

        /** The type of the failure of a waiting future, or null. */
        private final Class<? extends Throwable> failure;

        Ender(Class<? extends Throwable> failure) {
            this.failure = failure;
        }

        boolean obtrudes() {
            return this == OBTRUDE_VALUE || this == OBTRUDE_EXCEPTION;
        }
    }

    private static final class Outside extends RuntimeException {
        private static final long serialVersionUID = 1;
    }

    /** The argument of {@code complete} and the like: not a permit of the primitive. */
    private static final Permit GIVEN = new Permit() {
        @Override
        public void close() {}

        @Override
        public boolean isHeld() {
            return false;
        }
    };

    static Stream<Arguments> cells() {
        List<Arguments> cells = new ArrayList<>();
        for (Kind kind : Kind.values()) {
            for (State state : State.values()) {
                for (Ender ender : Ender.values()) {
                    boolean weights = state == State.HEAVY_HEAD || ender == Ender.CLOSE || ender == Ender.RESIZE;
                    boolean waiting = ender == Ender.OWN_TIMEOUT || ender == Ender.GRANT;
                    if (weights && kind == Kind.MUTEX || waiting && !state.waits()) continue;
                    cells.add(Arguments.of(kind, state, ender));
                }
            }
        }
        return cells.stream();
    }

    private record Seen(int waiting, int granted) {}

    private static final class Cell {
        private static final int PERMITS = 4;

        private final Kind kind;
        private final State state;
        private final Ender ender;
        private final AsyncSemaphore semaphore = AsyncSemaphore.create(PERMITS);
        private final AsyncMutex mutex = AsyncMutex.create();
        private final List<CompletableFuture<Permit>> others = new ArrayList<>();
        private final List<Integer> served = new ArrayList<>();
        private Permit holder;
        private CompletableFuture<Permit> subject;
        private Permit owned;

        Cell(Kind kind, State state, Ender ender) {
            this.kind = kind;
            this.state = state;
            this.ender = ender;
        }

        private CompletableFuture<Permit> acquire(int weight) {
            return kind == Kind.MUTEX ? mutex.lock() : semaphore.acquire(weight);
        }

        private CompletableFuture<Permit> subject(int weight) {
            if (ender != Ender.OWN_TIMEOUT) return acquire(weight);
            Duration timeout = Duration.ofMillis(40);
            return kind == Kind.MUTEX ? mutex.lock(timeout) : semaphore.acquire(weight, timeout);
        }

        private void addOther() {
            int number = others.size();
            CompletableFuture<Permit> other = acquire(1);
            other.thenAccept(permit -> served.add(number));
            others.add(other);
        }

        int waiting() {
            return kind == Kind.MUTEX ? mutex.waiting() : semaphore.waiting();
        }

        int granted() {
            return (int) others.stream().filter(CompletableFuture::isDone).count();
        }

        void setUp() {
            switch (state) {
                case HEAD, FAILED -> {
                    holder = acquire(PERMITS).join();
                    subject = subject(2);
                    addOther();
                }
                case MIDDLE -> {
                    holder = acquire(PERMITS).join();
                    addOther();
                    subject = subject(2);
                }
                case HEAVY_HEAD -> {
                    holder = acquire(PERMITS - 1).join();
                    subject = subject(PERMITS);
                    addOther();
                }
                case GRANTED -> {
                    holder = kind == Kind.MUTEX ? GIVEN : acquire(2).join();
                    subject = subject(2);
                    owned = subject.join();
                    addOther();
                }
            }
            addOther();
            if (state == State.FAILED) subject.cancel(false);
        }

        /** Ends the future. Returns the result of the call, or null if the call has none. */
        Boolean end() {
            return switch (ender) {
                case CANCEL -> subject.cancel(false);
                case CANCEL_INTERRUPTING -> subject.cancel(true);
                case COMPLETE -> subject.complete(GIVEN);
                case COMPLETE_EXCEPTIONALLY -> subject.completeExceptionally(new Outside());
                case OR_TIMEOUT -> nothing(() -> subject.orTimeout(1, TimeUnit.NANOSECONDS));
                case COMPLETE_ON_TIMEOUT -> nothing(() -> subject.completeOnTimeout(GIVEN, 1, TimeUnit.NANOSECONDS));
                case COMPLETE_ASYNC -> nothing(() -> subject.completeAsync(() -> GIVEN));
                case COMPLETE_ASYNC_FAILING ->
                    nothing(() -> subject.completeAsync(() -> {
                        throw new Outside();
                    }));
                case OBTRUDE_VALUE -> nothing(() -> subject.obtrudeValue(GIVEN));
                case OBTRUDE_EXCEPTION -> nothing(() -> subject.obtrudeException(new Outside()));
                case OWN_TIMEOUT -> null;
                case CLOSE -> nothing(semaphore::close);
                case RESIZE -> nothing(() -> semaphore.resize(1));
                case GRANT -> nothing(this::grant);
            };
        }

        private static Boolean nothing(Runnable call) {
            call.run();
            return null;
        }

        private void grant() {
            holder.close();
            if (kind == Kind.MUTEX && state == State.MIDDLE)
                others.get(0).join().close();
        }

        int expectedGranted() {
            if (ender == Ender.CLOSE) return 2; // done, because they have failed
            if (ender == Ender.GRANT) {
                if (state == State.HEAVY_HEAD) return 0;
                if (kind == Kind.SEMAPHORE) return 2;
                return state == State.MIDDLE ? 1 : 0;
            }
            return state == State.HEAVY_HEAD && ender != Ender.RESIZE ? 1 : 0;
        }

        Seen expected() {
            return new Seen(2 - expectedGranted(), expectedGranted());
        }
    }

    @ParameterizedTest(name = "{0} {1} {2}")
    @MethodSource("cells")
    void future_endedFromOutside_isConsistentAndLosesNothing(Kind kind, State state, Ender ender) {
        Cell cell;
        CompletableFuture<Seen> seen;
        do {
            cell = new Cell(kind, state, ender);
            Cell now = cell;
            cell.setUp();
            seen = cell.subject.handle((permit, e) -> new Seen(now.waiting(), now.granted()));
            // If the machine stalls, the timeout of the subject may expire before the other requests are enqueued.
        } while (ender == Ender.OWN_TIMEOUT && cell.subject.isDone());
        Boolean answer = cell.end();

        if (state.waits()) {
            assertEquals(
                    answer == null ? null : Boolean.TRUE, answer, "the first call that ends the future returns true");
            Seen atCompletion = await(seen);
            if (ender != Ender.GRANT && ender != Ender.CLOSE) assertEquals(cell.expected(), atCompletion);
            else assertEquals(cell.expected().waiting(), atCompletion.waiting());
        } else if (answer != null) {
            assertEquals(state == State.FAILED && isCancel(ender), answer, "too late");
        }
        assertEquals(cell.expected(), new Seen(cell.waiting(), cell.granted()));
        assertSubject(cell);
        assertAllComesBack(cell);
        // The calls since must not have changed the outcome.
        assertSubject(cell);
    }

    private static boolean isCancel(Ender ender) {
        return ender == Ender.CANCEL || ender == Ender.CANCEL_INTERRUPTING;
    }

    private static void assertSubject(Cell cell) {
        CompletableFuture<Permit> subject = cell.subject;
        Class<? extends Throwable> failure = cell.ender.failure;
        if (!cell.state.waits() && !cell.ender.obtrudes()) {
            failure = cell.state == State.FAILED ? CancellationException.class : null;
        }
        assertTrue(subject.isDone());
        assertEquals(failure == CancellationException.class, subject.isCancelled());
        assertEquals(failure != null, subject.isCompletedExceptionally());
        if (failure != null) {
            assertInstanceOf(failure, awaitFailure(subject));
            assertThrows(RuntimeException.class, subject::join);
            assertThrows(Exception.class, () -> subject.get(0, TimeUnit.SECONDS));
        } else if (cell.state == State.GRANTED && cell.ender != Ender.OBTRUDE_VALUE) {
            assertSame(cell.owned, subject.join());
        } else if (cell.ender != Ender.GRANT) {
            assertSame(GIVEN, subject.join());
        }
    }

    private static void assertAllComesBack(Cell cell) {
        cell.holder.close();
        if (cell.owned != null) {
            assertTrue(cell.owned.isHeld());
            cell.owned.close();
        } else if (cell.ender == Ender.GRANT) {
            assertTrue(cell.subject.join().isHeld());
            cell.subject.join().close();
        }
        for (CompletableFuture<Permit> other : cell.others) {
            assertTrue(other.isDone());
            if (cell.ender == Ender.CLOSE) assertInstanceOf(SemaphoreClosedException.class, awaitFailure(other));
            else other.join().close();
        }
        assertEquals(cell.ender == Ender.CLOSE ? List.of() : List.of(0, 1), cell.served);
        assertEquals(0, cell.waiting());
        assertFalse(cell.mutex.isLocked());
        assertEquals(cell.semaphore.permits(), cell.semaphore.availablePermits());
        if (cell.ender != Ender.CLOSE) {
            assertTrue(cell.acquire(cell.kind == Kind.MUTEX ? 1 : cell.semaphore.permits())
                    .isDone());
        }
    }
}
