package baton.interop.futures;

import static baton.interop.Futures.await;
import static baton.interop.Futures.awaitFailure;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import baton.interop.Futures;
import baton.interop.Permit;
import java.util.Arrays;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/** Ends the future of every kind of request from outside: while it waits, when it is granted, and when it is done. */
class EndedFutureTest {
    static Stream<Arguments> cells() {
        return WaitKind.requests()
                .flatMap(kind -> Arrays.stream(Ender.values()).map(ender -> Arguments.of(kind, ender)));
    }

    static Stream<Arguments> cellsWithExecutor() {
        return cells().filter(cell -> ((WaitKind) cell.get()[0]).create().on != null);
    }

    @ParameterizedTest(name = "{0} {1}")
    @MethodSource("cells")
    void future_endedWhileItWaits_isWithdrawnBeforeItsEndIsSeen(WaitKind kind, Ender ender) {
        Wait wait = kind.create();
        CompletableFuture<?> subject = wait.plain.get();
        CompletableFuture<Permit> behind = wait.follow();
        assertFalse(subject.isDone() || behind != null && behind.isDone());
        CompletableFuture<String> seen = subject.handle((value, e) -> state(wait, behind));

        Object answer = ender.end(subject);

        assertTrue(answer == subject || Boolean.TRUE.equals(answer), "the first call that ends it returns true");
        assertEquals("waiting = 0, next is done = " + (behind != null), await(seen));
        assertOutcome(subject, ender);
        wait.grant();
        if (behind != null) behind.join().close();
        wait.checkNothingLost();
        // The calls since have not changed the outcome.
        assertOutcome(subject, ender);
    }

    private static String state(Wait wait, @Nullable CompletableFuture<?> behind) {
        return "waiting = " + wait.waiting() + ", next is done = " + (behind != null && behind.isDone());
    }

    private static void assertOutcome(CompletableFuture<?> future, Ender ender) {
        assertEquals(ender.failure == null ? Ender.Outside.VALUE : null, await(future.handle((value, e) -> value)));
        assertEquals(ender.failure != null, future.isCompletedExceptionally());
        assertEquals(ender.isCancel(), future.isCancelled());
        if (ender.failure != null) {
            assertInstanceOf(ender.failure, awaitFailure(future));
            assertThrows(RuntimeException.class, future::join);
            assertThrows(Exception.class, () -> future.get(0, TimeUnit.SECONDS));
        }
    }

    /** The request has been granted, but its executor has not run: the future is completed with the grant first. */
    @ParameterizedTest(name = "{0} {1}")
    @MethodSource("cellsWithExecutor")
    void future_endedBeforeItsExecutorCompletesIt_hasTheGrantAllTheSame(WaitKind kind, Ender ender) {
        Wait wait = kind.create();
        Futures.Steps steps = new Futures.Steps();
        CompletableFuture<?> subject = wait.on.apply(steps);
        CompletableFuture<Object[]> seen = subject.handle((value, e) -> new Object[] {value, e});
        wait.grant();
        assertFalse(subject.isDone());

        assertNotEquals(Boolean.TRUE, ender.end(subject), "too late");

        Object[] first = await(seen);
        assertEquals(null, first[1]);
        steps.runAll();
        assertTooLate(subject, ender, first[0]);
        wait.checkGranted(first[0]);
    }

    @ParameterizedTest(name = "{0} {1}")
    @MethodSource("cells")
    void future_endedWhenItIsDone_changesNothingUnlessObtruded(WaitKind kind, Ender ender) {
        Wait wait = kind.create();
        CompletableFuture<?> subject = wait.plain.get();
        CompletableFuture<Permit> behind = wait.follow();
        wait.grant();
        Object value = subject.join();

        assertNotEquals(Boolean.TRUE, ender.end(subject), "too late");

        assertTooLate(subject, ender, value);
        if (behind != null && behind.isDone()) behind.join().close();
        if (behind == null) wait.checkGranted(value);
    }

    private static void assertTooLate(CompletableFuture<?> subject, Ender ender, @Nullable Object value) {
        if (ender.obtrudes()) assertOutcome(subject, ender);
        else assertSame(value, subject.join());
    }
}
