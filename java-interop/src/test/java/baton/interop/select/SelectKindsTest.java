package baton.interop.select;

import static baton.interop.Futures.await;
import static baton.interop.Futures.awaitFailure;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import baton.interop.AsyncChannel;
import baton.interop.Futures;
import baton.interop.Select;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.stream.Stream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/** Clauses of every kind win, lose, and are withdrawn. */
class SelectKindsTest {
    private static final Duration LONG = Duration.ofDays(1);
    private final AsyncChannel<String> channel = AsyncChannel.create(0);

    static Stream<SelectKind> kinds() {
        return Stream.of(
                new SelectKind.Receive(),
                new SelectKind.Send(),
                new SelectKind.Acquire(),
                new SelectKind.Lock(),
                new SelectKind.Read(),
                new SelectKind.Write(),
                new SelectKind.Open(),
                new SelectKind.Zero(),
                new SelectKind.Arrive(),
                new SelectKind.Future());
    }

    @ParameterizedTest(name = "{0}")
    @MethodSource("kinds")
    void clause_thatWaits_winsWhenGranted(SelectKind kind) {
        Select<String> select = Select.first();
        select.onReceive(channel, x -> x);
        kind.add(select);
        CompletableFuture<String> winner = select.start();
        assertEquals(1, channel.waiting());
        assertEquals(1, kind.waiting());
        kind.grantClause();
        assertEquals("won", winner.join());
        assertEquals(0, channel.waiting() + kind.waiting());
        kind.checkWon();
    }

    @ParameterizedTest(name = "{0}")
    @MethodSource("kinds")
    void clause_thatNeedNotWait_winsAtOnce(SelectKind kind) {
        boolean arrives = kind instanceof SelectKind.Arrive;
        kind.grantClause();
        Select<String> select = Select.<String>first().onReceive(channel, x -> x);
        kind.add(select);
        assertEquals(arrives ? "index = 0" : "won", select.start().join());
        assertEquals(0, channel.waiting() + kind.waiting());
    }

    @ParameterizedTest(name = "{0}")
    @MethodSource("kinds")
    void clause_thatLoses_leavesNothing(SelectKind kind) {
        Select<String> select = Select.first();
        kind.add(select);
        CompletableFuture<String> winner =
                select.onReceive(channel, x -> kind.waiting() + x).start();
        assertTrue(channel.trySend(" wait when the winner's function runs"));
        assertEquals("0 wait when the winner's function runs", winner.join());
        kind.grantClause();
        kind.checkNothingLost();
    }

    static Stream<Arguments> kindsAndEnders() {
        List<Consumer<CompletableFuture<String>>> enders = List.of(
                future -> future.cancel(true),
                future -> future.complete("outside"),
                future -> future.completeExceptionally(new ArithmeticException()),
                future -> awaitFailure(future.orTimeout(1, TimeUnit.NANOSECONDS)),
                future -> await(future.completeOnTimeout("outside", 1, TimeUnit.NANOSECONDS)),
                future -> future.obtrudeValue("outside"));
        return Stream.of(0, 1, 2, 3, 4, 5).flatMap(i -> kinds().map(kind -> Arguments.of(kind, i, enders.get(i))));
    }

    @ParameterizedTest(name = "{0} {1}")
    @MethodSource("kindsAndEnders")
    void future_endedFromOutside_withdrawsTheClause(
            SelectKind kind, int number, Consumer<CompletableFuture<String>> end) {
        Select<String> select = Select.first();
        kind.add(select);
        CompletableFuture<String> winner = select.onTimeout(LONG, () -> "late").start();
        CompletableFuture<Integer> waitingThen = winner.handle((value, e) -> kind.waiting());
        end.accept(winner);
        assertEquals(0, await(waitingThen));
        kind.grantClause();
        kind.checkNothingLost();
        assertTrue(winner.isCompletedExceptionally() || winner.join().equals("outside"));
    }

    /** The clause has won, but its executor has not begun: the grant is returned before the future is seen as ended. */
    @ParameterizedTest(name = "{0} {1}")
    @MethodSource("kindsAndEnders")
    void future_endedFromOutsideBeforeTheFunctionBegins_givesTheGrantBack(
            SelectKind kind, int number, Consumer<CompletableFuture<String>> end) {
        Futures.Steps steps = new Futures.Steps();
        Select<String> select = Select.<String>first().onReceive(channel, x -> x);
        kind.add(select);
        CompletableFuture<String> winner = select.start(steps);
        kind.grantClause();
        assertEquals(0, channel.waiting());
        assertFalse(winner.isDone());
        end.accept(winner);
        if (kind instanceof SelectKind.Arrive arrive) assertEquals(0, arrive.party.join(), "cannot be undone");
        else kind.checkNothingLost();
        steps.runAll();
        assertTrue(winner.isCompletedExceptionally() || winner.join().equals("outside"));
    }
}
